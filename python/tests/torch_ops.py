"""Small networks whose ops `torch_graphs` converts, each a function of a module `m` and its inputs."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, LENGTH, BATCH, WORDS = 32, 4, 8, 8, 64


class Network(nn.Module):
    """Layers and parameters by name, and what is computed with them."""

    def __init__(self, compute, **members):
        super().__init__()
        self.compute = compute
        for name, member in members.items():
            setattr(self, name, member)

    def forward(self, *values):
        return self.compute(self, *values)


def parted(x):
    return x.view(*x.shape[:2], HEADS, -1).transpose(1, 2)


def joined(x):
    return x.transpose(1, 2).flatten(2)


# --- attention --------------------------------------------------------------------------


def einsums(m, x):
    q, k, v = (torch.einsum("bld,dhe->blhe", x, w) for w in (m.q, m.k, m.v))
    odds = torch.einsum("blhe,bmhe->bhlm", q, k).softmax(-1)
    return torch.einsum("bhlm,bmhe,hed->bld", odds, v, m.o)


def rotary(m, x):
    angles = torch.outer(torch.arange(LENGTH).float(), 1.0 / 10000 ** (torch.arange(0, 8, 2) / 8))
    q = parted(m.q(x))
    a, b = q[..., 0::2], q[..., 1::2]
    turned = [a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()]
    q = torch.stack(turned, -1).flatten(-2)
    return m.o(joined(F.scaled_dot_product_attention(q, q, q, is_causal=True)))


def cached(m, x, keys, values, place):
    keys, values = keys.index_copy(1, place, m.k(x)), values.index_copy(1, place, m.v(x))
    mask = (torch.arange(keys.shape[1]) <= place)[None]
    found = F.scaled_dot_product_attention(*map(parted, (m.q(x), keys, values)), attn_mask=mask)
    return m.o(joined(found)), keys, values


def cached_slices(m, x, cache):
    cache = cache.clone()
    cache[:, 4:5] = m.k(x)
    cache[:, 7] = x[:, 0]
    return cache @ cache.transpose(1, 2), cache


def cached_rows(m, cache, x, places):
    return m.o(torch.index_put(cache, (torch.arange(BATCH)[:, None], places[:, None]), x))


def alibi(m, x):
    q, k, v = m.qkv(x).view(BATCH, LENGTH, 3, HEADS, -1).permute(2, 0, 3, 1, 4).unbind(0)
    q, k, v = (each.reshape(BATCH * HEADS, LENGTH, -1) for each in (q, k, v))
    row = torch.arange(LENGTH)
    bias = -(row[:, None] - row).abs() * (2.0 ** -torch.arange(1, HEADS + 1))[:, None, None]
    bias = bias.repeat(BATCH, 1, 1)
    odds = torch.baddbmm(bias, q, k.transpose(1, 2), beta=0.5, alpha=0.25).softmax(-1)
    return m.o(joined(torch.bmm(odds, v).view(BATCH, HEADS, LENGTH, -1)))


def relative(m, x):
    row = torch.arange(LENGTH)
    bias = m.table[row[:, None] - row + LENGTH - 1].permute(2, 0, 1)
    q = parted(x @ m.q)
    return (q @ q.transpose(-1, -2) + bias).softmax(-1) @ q, x.unfold(1, 3, 1).sum(-1)


def windows(m, x):
    n, h, w, c = x.shape
    x = torch.roll(x, (-2, -2), (1, 2)).view(n, h // 4, 4, w // 4, 4, c)
    x = x.permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, c)
    x = (x @ x.transpose(1, 2)).softmax(-1) @ m.o(x)
    return x.view(n, h // 4, w // 4, 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(n, h, w, c)


def linear_attention(m, x):
    q, k, v = m.qkv(x).tensor_split(3, -1)
    q, k = F.elu(q) + 1, F.elu(k) + 1
    state = torch.einsum("bld,ble->blde", k, v).cumsum(1)
    return torch.einsum("bld,blde->ble", q, state) / (q * k.cumsum(1)).sum(-1, keepdim=True)


# --- feed-forward and experts -------------------------------------------------------------


def swiglu(m, x):
    gate, up = m.up(m.norm(x)).chunk(2, -1)
    return x + m.down(F.silu(gate) * up) + F.glu(m.up(x), -1).mean(-1, keepdim=True)


def chosen_experts(m, x):
    odds = m.router(x).softmax(-1)
    best, chosen = torch.topk(odds, 2)
    weights = torch.zeros_like(odds).scatter(-1, chosen, best / best.sum(-1, keepdim=True))
    gate, up = torch.einsum("bld,edf->belf", x, m.up).chunk(2, -1)
    return torch.einsum("belf,efd,ble->bld", F.silu(gate) * up, m.down, weights)


def one_hot_experts(m, x):
    odds = m.router(x).softmax(-1)
    weights = F.one_hot(odds.argmax(-1), 8).to(x.dtype) * odds
    places = (weights.cumsum(1) - 1).clamp(min=0)
    return torch.einsum("bld,edf,ble->blf", x, m.w, weights) + places.sum(-1, keepdim=True)


# --- recurrent ----------------------------------------------------------------------------


def cells(m, x):
    h = c = torch.zeros(BATCH, WIDTH)
    for step in x.unbind(1):
        h, c = m.cell(step, (h, c))
    return m.o(h)


def states(m, x):
    u, gate = m.up(x).split(WIDTH, -1)
    h, found = torch.zeros(BATCH, WIDTH), []
    for step in u.unbind(1):
        h = torch.exp(-m.decay) * h + step
        found.append(h)
    return m.o(torch.stack(found, 1) * F.silu(gate))


# --- images -------------------------------------------------------------------------------


def depthwise(m, x):
    x = m.grouped(F.relu6(m.point(m.depth(x))))
    return m.o(F.adaptive_avg_pool2d(F.hardswish(x), 1).flatten(1))


def squeezed(m, x):
    y = F.leaky_relu(m.small(F.adaptive_avg_pool2d(x, 1)), 0.1)
    return x * F.hardsigmoid(m.large(y))


def pooled(m, x):
    x = F.avg_pool2d(x, 3, 2, 1, count_include_pad=False)
    return m.o(F.adaptive_avg_pool2d(x, 3).mean((2, 3)))


# --- elementwise, lookups, reductions -----------------------------------------------------


def scattered(m, tokens, order):
    x = m.table(tokens)
    order = order[..., None].expand(-1, -1, WIDTH)
    x = torch.gather(x, 1, order)
    y = torch.zeros_like(x).scatter_add(1, order, x) + torch.zeros_like(x).scatter(1, order, x)
    rows = torch.zeros(WORDS, WIDTH).index_add(0, tokens.flatten(), x.flatten(0, 1))
    return m.o(y) @ rows.sum(0).expand(WORDS, WIDTH)


def statistics(m, x):
    spread, mean = torch.var_mean(x, -1, keepdim=True)
    y = (x - mean) / (spread + 1e-5).sqrt() + x.std(-1, keepdim=True) + x.norm(dim=-1, keepdim=True)
    y = y + torch.logsumexp(x, -1, keepdim=True)
    most, place = x.max(-1, keepdim=True)
    y = m.o(y) + most + place + x.min(1).values.sum() + x.prod(-1, keepdim=True) + x.argmin(1).sum()
    return y + F.cosine_similarity(x, 2 * x + 1, dim=-1)[..., None]


def losses(m, x, classes):
    loss = F.cross_entropy(m.o(x).flatten(0, 1), classes.flatten())
    return loss + F.mse_loss(x, x * 2) + F.smooth_l1_loss(x, x * 3)


def ordered(m, x):
    values, places = torch.sort(x, -1, descending=True)
    y = m.o(values) + places.sum() + torch.argsort(x, -1)[..., :1] + torch.flip(x, [1])[..., :1]
    return y + torch.topk(x, 3, largest=False)[0].sum()


def masked(m, x, lengths):
    x = x.masked_fill((torch.arange(LENGTH)[None] >= lengths[:, None])[..., None], 0.0)
    x = torch.where(x > 0, x, x.exp() - 1)
    x = torch.clamp(x, -1, 1) + torch.nan_to_num(x) + torch.remainder(x, 0.7) + torch.trunc(x) + torch.frac(x)
    x = m.o(x) * torch.tril(torch.ones(LENGTH, WORDS))
    return x + torch.diagonal(x @ x.transpose(1, 2), dim1=1, dim2=2)[..., None]


def activations(m, x):
    y = F.softplus(x, beta=2) + F.selu(x) + F.celu(x) + F.gelu(x) + F.logsigmoid(x) + F.softsign(x) + F.tanhshrink(x)
    y = y + F.hardtanh(x) + F.threshold(x, 0.1, 0.2) + F.mish(x) + m.learned(x.transpose(1, 2)).transpose(1, 2)
    y = y + torch.erfc(x) + torch.sinh(x) + torch.cosh(x) + torch.asinh(x) + torch.atan(x) + torch.exp2(x)
    positive = x.abs() + 1
    y = y + torch.log2(positive) + torch.log10(positive) + torch.addcmul(x, x, x, value=0.5) + torch.addcdiv(x, x, positive)
    y = y + torch.lerp(x, 2 * x, 0.3) + torch.hypot(x, x + 1) + torch.square(x) + torch.erfinv(x.tanh() * 0.5)
    return y + torch.logaddexp(x, 2 * x) + torch.xlogy(positive, positive) + torch.floor_divide(x, 0.3)


def tables(m, x):
    a, b = torch.meshgrid(torch.linspace(0, 1, LENGTH), torch.linspace(-1, 1, WIDTH), indexing="ij")
    x = x @ m.o(torch.stack([a, b], -1)).sum(0).T + torch.eye(WIDTH)[None, :LENGTH]
    return x + torch.kron(x[:, :1, :1], torch.ones(1, 1, WIDTH))


def repeated(m, x):
    return m.o(x).repeat_interleave(2, 1) + torch.tile(x, (1, 2, 1)) + torch.outer(x[0, 0], x[0, 1]).sum()


def buckets(m, x):
    first = x[..., 0].contiguous()
    return m.table(torch.bucketize(first, torch.linspace(-2, 2, 7))) + m.table((first.abs() * 3).long().clamp(max=7))


def networks():
    """What makes a module and its inputs, by name."""
    linear, parameter = nn.Linear, lambda *sizes: nn.Parameter(torch.randn(*sizes) / 6)
    text, image = torch.randn(BATCH, LENGTH, WIDTH), torch.randn(BATCH, 16, 8, 8)
    tokens, order = torch.randint(0, WORDS, (BATCH, LENGTH)), torch.stack([torch.randperm(LENGTH) for _ in range(BATCH)])
    step, cache = torch.randn(BATCH, 1, WIDTH), torch.randn(BATCH, 16, WIDTH)
    out, same = linear(WIDTH, WORDS), [linear(WIDTH, WIDTH) for _ in range(4)]
    head = (WIDTH, HEADS, WIDTH // HEADS)
    chain = lambda *layers: Network(lambda m, x: m.layers(x), layers=nn.Sequential(*layers))
    first = lambda layer: Network(lambda m, x: m.o(m.layer(x)[0]), layer=layer, o=linear(layer.hidden_size * (1 + layer.bidirectional), WORDS))
    coded = nn.TransformerEncoderLayer(WIDTH, HEADS, 64, batch_first=True, norm_first=True)
    decoded = nn.TransformerDecoderLayer(WIDTH, HEADS, 64, batch_first=True)
    return {
        "einsums": (Network(einsums, q=parameter(*head), k=parameter(*head), v=parameter(*head), o=parameter(*head[1:], WIDTH)), text),
        "rotary": (Network(rotary, q=same[0], o=out), text),
        "cached": (Network(cached, q=same[0], k=same[1], v=same[2], o=same[3]), step, cache, cache + 1, torch.tensor([5])),
        "cached_slices": (Network(cached_slices, k=same[0]), step, cache),
        "cached_rows": (Network(cached_rows, o=out), cache, step, torch.randint(0, 16, (BATCH,))),
        "alibi": (Network(alibi, qkv=linear(WIDTH, 3 * WIDTH), o=same[0]), text),
        "relative": (Network(relative, q=parameter(WIDTH, WIDTH), table=parameter(2 * LENGTH - 1, HEADS)), text),
        "windows": (Network(windows, o=same[0]), torch.randn(BATCH, 8, 8, WIDTH)),
        "linear_attention": (Network(linear_attention, qkv=linear(WIDTH, 3 * WIDTH)), text),
        "encoder_layers": (Network(lambda m, x: m.decoded(m.coded(x), x), coded=coded, decoded=decoded), text),
        "swiglu": (Network(swiglu, up=linear(WIDTH, 8 * WIDTH), down=linear(4 * WIDTH, WIDTH), norm=nn.RMSNorm(WIDTH)), text),
        "chosen_experts": (Network(chosen_experts, router=linear(WIDTH, 8), up=parameter(8, WIDTH, 64), down=parameter(8, WIDTH, WIDTH)), text),
        "one_hot_experts": (Network(one_hot_experts, router=linear(WIDTH, 8), w=parameter(8, WIDTH, WIDTH)), text),
        "cells": (Network(cells, cell=nn.LSTMCell(WIDTH, WIDTH), o=out), text),
        "lstm": (first(nn.LSTM(WIDTH, WIDTH, batch_first=True, bidirectional=True)), text),
        "gru": (first(nn.GRU(WIDTH, WIDTH, batch_first=True)), text),
        "states": (Network(states, up=linear(WIDTH, 2 * WIDTH), decay=parameter(WIDTH), o=same[0]), text),
        "depthwise": (Network(depthwise, depth=nn.Conv2d(16, 16, 3, padding=1, groups=16), point=nn.Conv2d(16, WIDTH, 1), grouped=nn.Conv2d(WIDTH, WIDTH, 3, 2, 1, groups=4), o=out), image),
        "squeezed": (Network(squeezed, small=nn.Conv2d(16, 4, 1), large=nn.Conv2d(4, 16, 1)), image),
        "pooled": (Network(pooled, o=linear(16, WORDS)), torch.randn(BATCH, 16, 12, 12)),
        "norms": (chain(nn.Conv2d(16, 16, 3, padding=1), nn.GroupNorm(4, 16), nn.SiLU(), nn.InstanceNorm2d(16, affine=True), nn.BatchNorm2d(16)), image),
        "grown": (chain(nn.Upsample(scale_factor=2, mode="bilinear"), nn.Conv2d(16, 16, 3, padding=1, padding_mode="reflect"), nn.PixelShuffle(2), nn.PixelUnshuffle(4)), image),
        "transposed": (chain(nn.ConvTranspose2d(16, 8, 3, 2, 1, 1, groups=2), nn.ELU(), nn.MaxPool2d(3, 2, 1, ceil_mode=True)), image),
        "one_dim": (chain(nn.Conv1d(LENGTH, 16, 3, padding=2, dilation=2), nn.MaxPool1d(2)), text),
        "three_dims": (chain(nn.Conv3d(4, 8, 3, padding=1), nn.AvgPool3d(2)), torch.randn(BATCH, 4, 4, 4, 4)),
        "unfolded": (Network(lambda m, x: m.o(F.unfold(x, 3, padding=1).transpose(1, 2)), o=linear(144, WORDS)), image),
        "scattered": (Network(scattered, table=nn.Embedding(WORDS, WIDTH), o=out), tokens, order),
        "products": (Network(lambda m, x: m.o(torch.cumprod(torch.sigmoid(x), 1)), o=out), text),
        "statistics": (Network(statistics, o=linear(WIDTH, WORDS)), text),
        "losses": (Network(losses, o=out), text, tokens),
        "ordered": (Network(ordered, o=out), text),
        "masked": (Network(masked, o=out), text, torch.randint(1, LENGTH, (BATCH,))),
        "activations": (Network(activations, learned=nn.PReLU(WIDTH)), text),
        "tables": (Network(tables, o=linear(2, WIDTH)), text),
        "repeated": (Network(repeated, o=same[0]), text),
        "buckets": (Network(buckets, table=nn.Embedding(8, WIDTH)), text),
        "tied": (Network(lambda m, x: F.linear(F.normalize(m.table(x), dim=-1), m.table.weight), table=nn.Embedding(WORDS, WIDTH)), tokens),
        "weight_norm": (Network(lambda m, x: m.o(x), o=nn.utils.parametrizations.weight_norm(linear(WIDTH, WORDS))), text),
    }
