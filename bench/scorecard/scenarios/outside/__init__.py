"""Test scenarios from public reports, written independently of the systems that they are played with. `ALL` has all of them.

The form is that of `bench/scorecard/scenario.py`. They need the world of `bench/scorecard/world` with `world.patch` applied.
"""

from . import answers, approvals, arguments, claims, crash, limits, parallel, providers, results, streams, twice

MODULES = (twice, approvals, crash, claims, arguments, answers, providers, streams, parallel, results, limits)
ALL = [scenario for module in MODULES for scenario in module.SCENARIOS]
