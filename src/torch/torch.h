#pragma once

// Inside this project <torch/torch.h> means this file: the parts of libtorch that most of our files need,
// precompiled. The header of that name in libtorch includes every layer, optimiser and loader, whose
// templates cost each file that includes it two to three seconds more. The few files that use a layer or an
// optimiser include it by name.
#include <ATen/Parallel.h>
#include <torch/types.h>

#include <torch/autograd.h>
#include <torch/cuda.h>
#include <torch/nn/module.h>
#include <torch/utils.h>
