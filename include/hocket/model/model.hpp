// The model checker: the header that model tests include (docs/model-checker.md).
#pragma once
#include <hocket/model/detail/atomic.hpp>
#include <hocket/model/detail/explore.hpp>
#include <hocket/model/detail/mutex.hpp>
#include <hocket/model/detail/var.hpp>
