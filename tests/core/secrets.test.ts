import { expect, test } from "bun:test";
import { openAll, sealAll, createVault } from "../../src/core/security/secrets.ts";

const vault = createVault(new Uint8Array(32).fill(7));
const location = "organization/monitor/1/bearerToken";

test("any encrypted value can be decrypted at its location", () => {
  for (const plain of ["", "p", "pässwörd 😀", "x".repeat(10_000), "a.b.c"]) {
    const sealed = vault.seal(plain, location);
    expect(vault.open(sealed, location)).toBe(plain);
    if (plain.length > 1) expect(sealed).not.toContain(plain);
  }
});

test("encrypting a secret twice gives different results", () => {
  expect(vault.seal("p", location)).not.toBe(vault.seal("p", location));
});

test("an encrypted value can't be decrypted elsewhere, with another key or after a change", () => {
  const sealed = vault.seal("password", location);
  const [version, iv = "", tag, text = ""] = sealed.split(".");
  const flipFirst = (part: string) => (part.startsWith("A") ? "B" : "A") + part.slice(1);
  expect(() => vault.open(sealed, "organization/monitor/2/bearerToken")).toThrow();
  expect(() => vault.open(sealed, "")).toThrow();
  expect(() => createVault(new Uint8Array(32).fill(8)).open(sealed, location)).toThrow();
  for (const changed of [
    [version, flipFirst(iv), tag, text],
    [version, iv, flipFirst(tag ?? ""), text],
    [version, iv, tag, flipFirst(text)],
    [version, iv, tag, ""],
    ["v2", iv, tag, text],
    [version, iv, tag],
    ["password"],
  ])
    expect(() => vault.open(changed.join("."), location)).toThrow();
});

test("a shortened authentication tag is rejected", () => {
  const [version, iv, tag = "", text] = vault.seal("password", location).split(".");
  const short = Buffer.from(tag, "base64url").subarray(0, 4).toString("base64url");
  expect(() => vault.open([version, iv, short, text].join("."), location)).toThrow();
});

test("each secret of a record is bound to its own field", () => {
  const secrets = { bearerToken: "a", "basicAuth.password": "b" };
  const sealed = sealAll(vault, "organization/monitor/1", secrets);
  expect(openAll(vault, "organization/monitor/1", sealed)).toEqual(secrets);
  const { bearerToken, ...rest } = JSON.parse(sealed);
  const swapped = JSON.stringify({ bearerToken: rest["basicAuth.password"] });
  expect(() => openAll(vault, "organization/monitor/1", swapped)).toThrow();
  expect(() => openAll(vault, "organization/monitor/2", JSON.stringify({ bearerToken }))).toThrow();
});

test("an encrypted number reveals nothing, and is decrypted only in its place", () => {
  const sealed = vault.sealNumber(41, "live/a");
  expect(sealed).toMatch(/^[\w-]{22}$/);
  expect(vault.sealNumber(41, "live/a")).toBe(sealed);
  expect(vault.openNumber(sealed, "live/a")).toBe(41);
  expect(vault.openNumber(vault.sealNumber(2 ** 53 - 1, "live/a"), "live/a")).toBe(2 ** 53 - 1);
  expect(vault.openNumber(sealed, "live/b")).toBeNull();
  expect(createVault(new Uint8Array(32).fill(8)).openNumber(sealed, "live/a")).toBeNull();
  for (const forged of ["", "41", "A".repeat(22), sealed.slice(1), `${sealed}A`])
    expect(vault.openNumber(forged, "live/a")).toBeNull();
  const near = vault.sealNumber(42, "live/a");
  const sameLetters = near.split("").filter((letter, index) => letter === sealed[index]);
  expect(sameLetters.length).toBeLessThan(10);
});
