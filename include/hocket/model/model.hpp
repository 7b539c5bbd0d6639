// All of the model checker: what a test of it includes.
#pragma once
#include <hocket/model/detail/atomic.hpp>
#include <hocket/model/detail/explore.hpp>
#include <hocket/model/detail/mutex.hpp>
#include <hocket/model/detail/var.hpp>
