"""Configuration files: YAML to `ScenarioSpec` and `VehicleSpec`, and the files that ship.

The types themselves are in `ghost.core`; this room may import pydantic and PyYAML, which `core`
may not.
"""

from ghost.config.catalogue import CatalogueEntry, list_scenarios, list_vehicles
from ghost.config.codec import spec_from_dict, spec_to_dict, vehicle_from_dict
from ghost.config.loader import CheckedFile, check_file, load_scenario, load_vehicle, problems_of
from ghost.config.problems import ConfigProblems

__all__ = [
    "CatalogueEntry",
    "CheckedFile",
    "ConfigProblems",
    "check_file",
    "list_scenarios",
    "list_vehicles",
    "load_scenario",
    "load_vehicle",
    "problems_of",
    "spec_from_dict",
    "spec_to_dict",
    "vehicle_from_dict",
]
