import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createServerClient, createMachine } from "../support/machine.ts";
import { recordAnswers } from "./answers.ts";

const versions = readdirSync(import.meta.dir, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

test("every released version has its data here", async () => {
  const changelog = await Bun.file(join(import.meta.dir, "../../CHANGELOG.md")).text();
  const headings = [...changelog.matchAll(/^## (\S+) – (.+)$/gm)];
  expect(headings.length).toBeGreaterThan(0);
  const released = headings.filter(([, , date]) => date !== "unreleased");
  expect(versions).toEqual(expect.arrayContaining(released.map(([, version]) => version)));
});

describe("data of version", () => {
  for (const version of versions)
    test(`${version} is upgraded to this one: every record has the same response`, async () => {
      const getStored = (name: string) => Bun.file(join(import.meta.dir, version, name));
      await using box = createMachine();
      mkdirSync(box.dataDir, { mode: 0o700 });
      const database = Bun.gunzipSync(await getStored("signalbox.db.gz").bytes());
      await Bun.write(join(box.dataDir, "signalbox.db"), database, { mode: 0o600 });
      await Bun.write(join(box.dataDir, "secret.key"), getStored("secret.key"), { mode: 0o600 });
      const { url } = await box.serve();
      const api = createServerClient(url, await getStored("api.key").text());
      expect(await recordAnswers(api)).toMatchObject(await getStored("answers.json").json());
      const { stdout } = await box.run(["doctor", "--offline"]);
      for (const subject of ["integrity", "references", "schema", "secrets"])
        expect(stdout).toMatch(new RegExp(`^ok +${subject}:`, "m"));
    });
});
