"""Backends that are wrong on purpose, each with the checks that must find it out.

Every one wraps a maker of sound backends and spoils one thing. They prove that the suite can fail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ghost.hal import SimulationBackend
from ghost.testing.broken import claims, samples, worlds
from ghost.testing.broken.proxy import BackendProxy, Maker, ProviderProxy, SinkProxy

__all__ = ["BROKEN", "BackendProxy", "Broken", "ProviderProxy", "SinkProxy"]


@dataclass(frozen=True, slots=True)
class Broken:
    """One way to be wrong."""

    name: str
    wrap: Callable[[Maker], Maker]
    must_fail: tuple[str, ...]
    """Names of the checks that must fail; others may."""
    import_path: str | None = None
    """Names a function that makes one, for the checks that need another process."""

    @property
    def story(self) -> str:
        """What is wrong with it."""
        return (_classes()[self.name].__doc__ or "").strip()


def _classes() -> dict[str, type[BackendProxy]]:
    modules = (samples, worlds, claims)
    return {name: getattr(module, name) for module in modules for name in module.__all__}


def _of(cls: type[BackendProxy], *must_fail: str, import_path: str | None = None) -> Broken:
    def wrap(make: Maker) -> Maker:
        def made() -> SimulationBackend:
            return cls(make)

        return made

    return Broken(cls.__name__, wrap, must_fail, import_path)


BROKEN: tuple[Broken, ...] = (
    Broken(
        "UnseededNoise",
        samples.counting,
        (
            "reset_is_deterministic",
            "reset_equals_new_backend",
            "shutdown_and_recreate",
            "one_large_step_equals_many_small",
            "sensors_are_independent",
            "latency_delays_publication_only",
        ),
    ),
    _of(
        samples.NoiseByProcess,
        "two_processes_agree",
        import_path="ghost.testing.broken.samples:noise_by_process",
    ),
    _of(samples.NoiseByPosition, "sensor_order_is_irrelevant"),
    _of(samples.NoiseByPolls, "polling_changes_nothing", "subscribers_change_nothing"),
    _of(samples.WritableArrays, "arrays_are_read_only"),
    _of(samples.MutatesPolledArrays, "no_shared_mutation", "arrays_are_read_only"),
    _of(
        samples.WrongGravitySign,
        "gravity_at_rest_is_up",
        "imu_integrates_to_truth",
        "imu_agrees_with_truth",
    ),
    _of(
        samples.DropsEvery50thSilently,
        "rates_hold_over_ten_seconds",
        "report_counts_the_samples",
    ),
    _of(
        samples.FloatStamps,
        "stamps_are_monotone_and_on_steps",
        "callbacks_see_the_samples_of_their_time",
        "poll_and_subscribe_agree",
    ),
    _of(samples.SeqRestarts, "seq_is_gapless_from_zero", "full_queue_drops_the_oldest"),
    _of(samples.HidesCorruption, "fault_nan_is_marked_faulty"),
    _of(samples.LeaksTruth, "configured_noise_is_applied", "another_seed_gives_other_noise"),
    _of(
        samples.FaultsIgnored,
        "fault_offline_silences_a_sensor",
        "fault_nan_is_marked_faulty",
        "fault_freeze_repeats_the_reading",
        "fault_bias_offsets_every_sample",
        "fault_spike_hits_single_samples",
        "fault_drop_loses_samples_with_gaps",
        "fault_delay_adds_latency",
    ),
    _of(samples.ClockDriftIgnored, "clock_drift_is_as_specified"),
    _of(samples.LatencyIgnored, "latency_is_as_specified"),
    _of(
        samples.PollKeepsSamples,
        "gps_agrees_with_truth",
        "poll_returns_each_sample_once",
        "report_counts_the_samples",
        "rates_hold_over_ten_seconds",
    ),
    _of(worlds.ClockGoesBack, "clock_is_monotonic"),
    _of(
        worlds.StepRoundsItsArgument,
        "step_refuses_what_is_no_multiple",
        "step_refuses_zero_and_negative",
        "step_refuses_what_is_no_integer",
    ),
    _of(
        worlds.IgnoresSecondReset,
        "clock_is_monotonic",
        "reset_is_deterministic",
        "reset_equals_new_backend",
        "seq_is_gapless_from_zero",
    ),
    _of(worlds.SecondShutdownRaises, "shutdown_is_idempotent"),
    _of(
        worlds.WorksAfterShutdown,
        "use_after_shutdown_is_refused",
        "send_after_shutdown_answers_closed",
        "context_manager_shuts_down",
    ),
    _of(
        worlds.UndeclaredSensor,
        "capabilities_match_observed",
        "specs_come_from_the_vehicle",
    ),
    _of(worlds.TruthInOtherAxes, "truth_is_one_motion", "imu_integrates_to_truth"),
    _of(worlds.SubscribersLostOnReset, "subscribers_survive_reset"),
    _of(worlds.SubscriberErrorsEscape, "subscriber_that_raises_is_isolated"),
    _of(worlds.RaisesOnBadCommands, "actuator_rejects_nan", "malformed_commands_are_refused"),
    _of(
        worlds.NoneAck,
        "actuator_rejects_nan",
        "malformed_commands_are_refused",
        "refused_commands_change_nothing",
        "send_after_shutdown_answers_closed",
        "stale_and_future_stamps_are_refused",
        "undeclared_levels_are_refused",
    ),
    _of(worlds.AcceptsNan, "actuator_rejects_nan", "malformed_commands_are_refused"),
    _of(worlds.EchoesUnclamped, "applied_is_within_the_limits"),
    _of(worlds.IgnoresCommands, "declared_levels_are_honoured", "free_fall_reads_nothing"),
    _of(
        worlds.RenamesParameters,
        "signatures_match_the_protocols",
        "every_call_works_by_keyword",
    ),
    _of(claims.OldVersion, "hal_version_is_ours"),
    _of(claims.GrowingCapabilities, "capabilities_do_not_change"),
    _of(claims.ArmsInName, "capabilities_do_not_change"),
    _of(claims.ReportsInName, "capabilities_do_not_change"),
    _of(claims.LevelsDisagree, "sink_and_capabilities_agree"),
    _of(claims.DeniesItsTruth, "truth_is_as_declared"),
    _of(claims.StaleTruth, "truth_is_of_now"),
    _of(claims.StretchedQuaternion, "quaternion_is_unit"),
    _of(claims.StartsElsewhere, "truth_starts_where_the_scenario_says"),
    _of(claims.ReportsAnotherTime, "clock_is_the_sum_of_steps"),
    _of(claims.WorksBeforeReset, "use_before_reset_is_refused"),
    _of(claims.OtherClockStep, "step_ns_is_the_scenarios"),
    _of(claims.CallbackErrorsEscape, "callback_that_raises_is_isolated"),
    _of(claims.FaultsStopTheLoop, "faults_never_stop_the_loop"),
    _of(claims.ThawedMessages, "messages_are_frozen"),
    _of(claims.OtherFrameIds, "samples_match_their_spec"),
    _of(claims.AlarmsWithoutCause, "healthy_samples_are_finite"),
    _of(
        claims.OtherUnits,
        "altimeter_tracks_height",
        "barometer_falls_with_height",
        "magnetometer_turns_with_yaw",
    ),
    _of(claims.PlainIntegersOnly, "step_takes_numpy_integers", "numpy_stamps_are_accepted"),
    _of(claims.RefusesEverything, "actuator_accepts_valid_command", "declared_levels_are_honoured"),
    _of(claims.CommandsExpire, "a_command_holds_until_replaced"),
)
