// All of the model checker: what a test of it includes.
#pragma once
#include <hocket/model/atomic.hpp>
#include <hocket/model/explore.hpp>
#include <hocket/model/mutex.hpp>
#include <hocket/model/var.hpp>
