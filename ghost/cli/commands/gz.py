"""`ghost gz`: look at a Gazebo server, and move its time, without Gazebo installed."""

from __future__ import annotations

import click

from ghost.cli.exit_codes import EPILOG
from ghost.cli.gazebo import listing, messages, worlds

__all__ = ["command"]


@click.group(
    "gz",
    short_help="Look at Gazebo's topics, services and worlds.",
    epilog=EPILOG,
    invoke_without_command=True,
)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Look at a Gazebo server, and move its time, without Gazebo installed.

    Where the server is, GZ_PARTITION, GZ_IP, GZ_RELAY and so on say, as they do to Gazebo itself;
    --partition and --ip go before them.

    \b
    Examples:
      ghost gz worlds
      ghost gz topics imu
      ghost gz echo /world/field/clock -n 1
      ghost gz hz /world/field/model/ghost_x500/link/base_link/sensor/imu0/imu
      ghost gz step 250
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


for _part in (
    listing.topics,
    listing.services,
    messages.echo,
    messages.hz,
    messages.pub,
    messages.call,
    worlds.worlds,
    worlds.step,
    worlds.pause,
    worlds.play,
    worlds.reset,
):
    command.add_command(_part)
