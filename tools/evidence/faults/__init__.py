"""Texts for others: faults of browsers as pages (`upstream/browser`), and unclear places of the drafts as issues (`upstream/spec`).

python -m tools.evidence.faults write             writes the pages and the indices; with --check fails if they are outdated
python -m tools.evidence.faults run               runs all programs in Chromium and on the emulator, and fails where a result changed
python -m tools.evidence.faults run --write       keeps the results
"""
