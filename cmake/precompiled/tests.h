// Compiled once with clang: what most tests include.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmake/precompiled/sources.h"
