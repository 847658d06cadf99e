"""Calls of subgraphs that fast numerics compute with kernels of the engine.

The name of a subgraph says what to look for. The operators themselves prove what is computed: each has to be the right one, with the right
operands and options, and no other operator may use what lies between. The rest of the subgraph is translated as usual: projections, masks,
updates of caches of one size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from webnn.builder.graph import Fusion, SubgraphCall, collect_calls
from webnn.proposals.fusion.attention import match_attention
from webnn.proposals.fusion.body import Body, Kernel, OtherBodyError, Users, is_known, require
from webnn.proposals.fusion.gating import match_gating
from webnn.proposals.fusion.grouped import match_grouped
from webnn.proposals.fusion.normalization import match_mean_and_variance, match_root_mean_square
from webnn.proposals.fusion.rotation import match_rotation

if TYPE_CHECKING:
    from webnn.builder.graph import ComputationalGraph

__all__ = ["fuse"]

#: The operators to look for in a subgraph, by its name in small letters, without other characters than letters and digits.
_NAMES: Mapping[str, Callable[[Body], list[Kernel]]] = {
    **dict.fromkeys(["attention", "scaleddotproductattention", "sdpa", "multiheadattention", "mha"], match_attention),
    **dict.fromkeys(["groupqueryattention", "groupedqueryattention", "gqa"], match_grouped),
    **dict.fromkeys(["rmsnormalization", "rmsnorm", "simplifiedlayernormalization"], match_root_mean_square),
    **dict.fromkeys(["skiprmsnormalization", "skiprmsnorm", "skipsimplifiedlayernormalization"], match_root_mean_square),
    **dict.fromkeys(["layernormalization", "layernorm", "skiplayernormalization", "skiplayernorm"], match_mean_and_variance),
    **dict.fromkeys(["rotaryembedding", "rotary", "rope"], match_rotation),
    **dict.fromkeys(["gatedmlp", "swiglu", "mlp", "silu", "swish"], match_gating),
}


def fuse(graph: ComputationalGraph) -> dict[SubgraphCall, Fusion]:
    """Say of each call in a graph what fast numerics make of it. A call comes before those inside it."""
    calls = collect_calls(graph)
    users = Users(graph) if calls else None
    taken: set[int] = set()
    found: dict[SubgraphCall, Fusion] = {}
    for call, operators in calls.items():
        name = "".join([each for each in call.name.casefold() if each.isalnum()])
        if name not in _NAMES or users is None:
            named = f"for the name {call.name[:60]!r}" if call.name else "for a subgraph without a name"
            found[call] = Fusion(reason=f"the engine has no kernel {named}")
            continue
        try:
            require(all(map(is_known, operators)), "its shapes are not known before the graph is dispatched")
            kernels = _NAMES[name](Body(operators, users, call))
        except OtherBodyError as error:
            found[call] = Fusion(reason=str(error))
            continue
        # The call inside which this one is may have the same operators.
        own = tuple([each for each in kernels if taken.isdisjoint(each.members)])
        found[call] = Fusion(kernel=", ".join(dict.fromkeys([each.kernel for each in kernels])), together=own)
        taken.update(*[each.members for each in own])
    return found
