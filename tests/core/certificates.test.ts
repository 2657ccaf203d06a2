import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { parseSubjects } from "../../src/core/security/certificates.ts";
import { writeSelfSigned } from "../support/certificates.ts";
import { createScratch } from "../support/scratch-directories.ts";

const folder = createScratch();

test("a certificate's common name is read unchanged, including a comma", () => {
  const { cert } = writeSelfSigned(folder(), "Branches, south", "DNS:shop.example");
  expect(parseSubjects(readFileSync(cert, "utf8")).map(({ name }) => name)).toEqual([
    "Branches, south",
  ]);
});
