//===- Fields.cpp - Fields of dictionaries, checked -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fields.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

void Fields::failField(StringRef name, const Twine &wanted, Attribute found) {
  if (failed)
    return;
  InFlightDiagnostic error = fail();
  error << "'" << name << "' of " << what << " must be " << wanted.str()
        << ", found ";
  if (found)
    error << found;
  else
    error << "none";
}

int64_t Fields::integer(StringRef name, int64_t least, int64_t most) {
  Attribute found = lookup(name);
  auto number = dyn_cast_or_null<IntegerAttr>(found);
  if (number && number.getType().isInteger(64) && number.getInt() >= least &&
      number.getInt() <= most)
    return number.getInt();
  failField(name,
            "a 64-bit integer from " + Twine(least) + " to " + Twine(most),
            found);
  return least;
}

double Fields::number(StringRef name) {
  Attribute found = lookup(name);
  auto number = dyn_cast_or_null<FloatAttr>(found);
  if (number && number.getValue().isFinite() && !number.getValue().isNegative())
    return number.getValueAsDouble();
  failField(name, "a finite number that is not negative", found);
  return 0;
}

bool Fields::boolean(StringRef name) {
  auto value = get<BoolAttr>(name, "true or false");
  return value && value.getValue();
}

bool Fields::flag(StringRef name) {
  return has(name) && get<UnitAttr>(name, "a unit attribute");
}

std::string Fields::text(StringRef name, StringRef wanted) {
  Attribute found = lookup(name);
  auto text = dyn_cast_or_null<StringAttr>(found);
  if (text && !text.getValue().empty())
    return text.str();
  failField(name, wanted, found);
  return "";
}

size_t Fields::choice(StringRef name, ArrayRef<StringRef> known) {
  Attribute found = lookup(name);
  auto text = dyn_cast_or_null<StringAttr>(found);
  const StringRef *place =
      text ? llvm::find(known, text.getValue()) : known.end();
  if (place != known.end())
    return size_t(place - known.begin());
  std::string wanted;
  for (StringRef one : known)
    wanted += (wanted.empty()        ? "'"
               : one == known.back() ? " or '"
                                     : ", '") +
              one.str() + "'";
  failField(name, wanted, found);
  return 0;
}

std::vector<int64_t> Fields::integers(StringRef name) {
  auto numbers = get<DenseI64ArrayAttr>(name, "an array of 64-bit integers");
  return numbers ? numbers.asArrayRef().vec() : std::vector<int64_t>();
}
