"""Calls that a draft refuses at steps that no file of web-platform-tests reaches, and the validation files that they become."""
