//===- CalibrationReader.h - Fitted constants from JSON ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_MODEL_MACHINE_CALIBRATIONREADER_H
#define SHARDOPT_LIB_MODEL_MACHINE_CALIBRATIONREADER_H

#include "shardopt/Model/Machine/Calibration.h"
#include "shardopt/Support/Json.h"

namespace shardopt {

/// Reads the member "calibration" of a machine file, without the data sheet.
/// What is wrong becomes an error of the document.
Calibration readCalibration(const json::Value &value);

} // namespace shardopt

#endif // SHARDOPT_LIB_MODEL_MACHINE_CALIBRATIONREADER_H
