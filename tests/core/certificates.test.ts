import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { subjectsIn } from "../../src/core/security/certificates.ts";
import { selfSigned } from "../support/certificates.ts";
import { scratch } from "../support/scratch.ts";

const folder = scratch();

test("a certificate's common name is read unchanged, including a comma", () => {
  const { cert } = selfSigned(folder(), "Branches, south", "DNS:shop.example");
  expect(subjectsIn(readFileSync(cert, "utf8")).map(({ name }) => name)).toEqual([
    "Branches, south",
  ]);
});
