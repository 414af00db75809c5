"""Faults: processes that are killed at random moments, full and read-only disks, damaged files.

``make faults`` kills each command fifty times. ``make test`` kills each a few times.
"""
