#!/usr/bin/env python3
"""The gpt-oss forward pass in float64 and nothing but numpy: slow, plain, and written to be read.

It is a second opinion beside transformers (tools/make_golden.py compares the two), and it tells
how near the router came to choosing differently. Only for small checkpoints.

  reference_forward.py DIR 1,2,3        prints the five best next tokens
"""

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from checkpoints.reading import Settings, read_checkpoint
from checkpoints.spec import Yarn


def rms_norm(x: np.ndarray, weight: np.ndarray, eps: float) -> np.ndarray:
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * weight


def yarn_frequencies(yarn: Yarn, head_dim: int) -> tuple[np.ndarray, float]:
    """Angle per position for each pair of elements, and the factor on cosine and sine."""
    index = np.arange(head_dim // 2)
    frequency = yarn.theta ** (-2.0 * index / head_dim)

    def pair_that_turns(times: float) -> float:
        """Which pair turns that often within the original context."""
        turns = yarn.original_context / (times * 2 * math.pi)
        return head_dim * math.log(turns) / (2 * math.log(yarn.theta))

    low, high = pair_that_turns(yarn.beta_fast), pair_that_turns(yarn.beta_slow)
    if yarn.truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, head_dim - 1)
    if low == high:
        high += 0.001
    slowed = np.clip((index - low) / (high - low), 0, 1)
    frequency = frequency * (1 - slowed) + frequency / yarn.factor * slowed
    return frequency, 0.1 * math.log(yarn.factor) + 1.0 if yarn.factor > 1 else 1.0


def rotate(x: np.ndarray, cosine: np.ndarray, sine: np.ndarray) -> np.ndarray:
    """x [tokens, heads, head_dim]: element i turns with element i + head_dim / 2."""
    first, second = np.split(x, 2, axis=-1)
    return np.concatenate(
        [first * cosine - second * sine, second * cosine + first * sine], axis=-1
    )


def attend(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, sinks: np.ndarray, window: int | None
) -> np.ndarray:
    """q [tokens, heads, head_dim] are the last of the positions of k, v [context, kv_heads, ...].

    A window counts the query's own key. A sink takes probability and gives no value.
    """
    num_tokens, num_heads, head_dim = q.shape
    group = num_heads // k.shape[1]
    query_position = np.arange(k.shape[0] - num_tokens, k.shape[0])[:, None]
    key_position = np.arange(k.shape[0])[None, :]
    visible = key_position <= query_position
    if window is not None:
        visible &= key_position > query_position - window
    out = np.empty_like(q)
    for head in range(num_heads):
        scores = q[:, head] @ k[:, head // group].T / math.sqrt(head_dim)
        scores = np.where(visible, scores, -np.inf)
        top = np.maximum(scores.max(axis=-1, keepdims=True), sinks[head])
        weights = np.exp(scores - top)
        total = weights.sum(axis=-1, keepdims=True) + np.exp(sinks[head] - top)
        out[:, head] = weights @ v[:, head // group] / total
    return out


def clamped_swiglu(z: np.ndarray, limit: float, alpha: float) -> np.ndarray:
    """Even elements are gates, odd ones are ups."""
    gate, up = np.minimum(z[..., 0::2], limit), np.clip(z[..., 1::2], -limit, limit)
    return gate / (1 + np.exp(-alpha * gate)) * (up + 1)


def experts(y: np.ndarray, layer: dict, settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    """The mixture's output, and per token the gap between the last chosen logit and the next."""
    logits = y @ layer["router"].T + layer["router_bias"]
    order = np.argsort(-logits, axis=-1, kind="stable")
    sorted_logits = np.take_along_axis(logits, order, axis=-1)
    chosen, top = order[:, : settings.top_k], sorted_logits[:, : settings.top_k]
    gap = np.full(len(y), np.inf)
    if settings.top_k < logits.shape[1]:
        gap = top[:, -1] - sorted_logits[:, settings.top_k]
    weight = np.exp(top - top[:, :1])
    weight /= weight.sum(axis=-1, keepdims=True)
    out = np.zeros_like(y)
    for expert in np.unique(chosen):
        token, rank = np.nonzero(chosen == expert)
        z = y[token] @ layer["w1"][expert].T + layer["w1_bias"][expert]
        h = clamped_swiglu(z, settings.limit, settings.alpha)
        part = h @ layer["w2"][expert].T + layer["w2_bias"][expert]
        out[token] += weight[token, rank][:, None] * part
    return out, gap


@dataclass
class Model:
    """A checkpoint with a KV cache: forward() takes the tokens that follow those it has seen."""

    folder: Path
    # Applied to keys (after RoPE) and values before any use, to study narrower caches.
    round_kv: Callable[[np.ndarray], np.ndarray] = lambda values: values
    # Per layer, the router's gap for each position so far.
    router_gaps: list[np.ndarray] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.settings, self.weights = read_checkpoint(self.folder)
        self.reset()

    def reset(self) -> None:
        self.cache: list[tuple[np.ndarray, np.ndarray] | None] = [None] * self.settings.layers
        self.router_gaps = [np.empty(0)] * self.settings.layers
        self.num_seen = 0

    def _attention(self, y: np.ndarray, index: int) -> np.ndarray:
        layer, head_dim = self.weights.layers[index], self.settings.head_dim
        num_heads = len(layer["sinks"])
        num_kv_heads = (len(layer["qkv"]) // head_dim - num_heads) // 2
        qkv = (y @ layer["qkv"].T + layer["qkv_bias"]).reshape(len(y), -1, head_dim)
        q, k, v = np.split(qkv, [num_heads, num_heads + num_kv_heads], axis=1)

        frequency, factor = yarn_frequencies(self.settings.yarn, head_dim)
        position = np.arange(self.num_seen, self.num_seen + len(y))
        angle = position[:, None, None] * frequency
        cosine, sine = factor * np.cos(angle), factor * np.sin(angle)
        q, k = rotate(q, cosine, sine), rotate(k, cosine, sine)
        k, v = self.round_kv(k), self.round_kv(v)
        if (past := self.cache[index]) is not None:
            k, v = np.concatenate([past[0], k]), np.concatenate([past[1], v])
        self.cache[index] = (k, v)

        slides = self.settings.layer_types[index] == "sliding_attention"
        out = attend(q, k, v, layer["sinks"], self.settings.window if slides else None)
        return out.reshape(len(y), -1) @ layer["o"].T + layer["o_bias"]

    def forward(self, tokens: list[int]) -> np.ndarray:
        """Logits [tokens, vocab] for the given tokens."""
        x = self.weights.embedding[np.array(tokens)]
        for index, layer in enumerate(self.weights.layers):
            x = x + self._attention(rms_norm(x, layer["attn_norm"], self.settings.eps), index)
            y = rms_norm(x, layer["mlp_norm"], self.settings.eps)
            out, gap = experts(y, layer, self.settings)
            x = x + out
            self.router_gaps[index] = np.concatenate([self.router_gaps[index], gap])
        self.num_seen += len(tokens)
        return rms_norm(x, self.weights.final_norm, self.settings.eps) @ self.weights.head.T


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="a checkpoint in any layout")
    parser.add_argument("tokens", help="token ids, comma separated")
    arguments = parser.parse_args()
    tokens = [int(token) for token in arguments.tokens.split(",")]
    logits = Model(arguments.folder).forward(tokens)[-1]
    for token in np.argsort(-logits)[:5]:
        print(f"{token:8} {logits[token]:.6f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
