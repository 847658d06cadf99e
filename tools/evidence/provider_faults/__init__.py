"""Faults of ONNX Runtime's providers, each as the smallest program in plain ONNX Runtime, without `webnn`.

    python -m tools.evidence.provider_faults [webgpu | qnn]

Needs the plug-ins and their drivers: docs/devices.md. Each program runs in a process of its own, because some end it.
"""
