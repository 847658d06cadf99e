"""Device profiles: what a browser's backend accepts, as data, so that a context can accept and refuse the same without the device.

Each JSON file beside this module is one profile, in the format that a user's file has too (`schema`). The name is the file's, without its
ending. The data is what ``MLContext.opSupportLimits()`` returns in a page on that backend. The profiles of TFLite were measured in
running browsers; the others were transcribed from Chromium's source. ``_source`` says from where.
"""

from webnn.context.limits import TensorLimits
from webnn.context.profiles.load import ALIASES, PROFILES, is_name, load_profile, make_profile
from webnn.context.profiles.problems import ProfileError
from webnn.context.profiles.profile import Kind, Profile, Violation

__all__ = ["ALIASES", "PROFILES", "Kind", "Profile", "ProfileError", "TensorLimits", "Violation", "is_name", "load_profile", "make_profile"]
