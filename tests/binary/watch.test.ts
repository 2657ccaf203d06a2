/** Two servers that watch each other after one command. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { runSignalbox } from "../support/binary.ts";
import type { Json } from "../support/json.ts";
import { createMachineWithKey, createServerClient, expectSuccess } from "../support/machine.ts";
import { createScratch } from "../support/scratch-directories.ts";
import { pollUntil } from "../support/poll.ts";

const newDirectory = createScratch();

test("one command lets two servers watch each other, and a repeated one changes nothing", async () => {
  await using box = await createMachineWithKey();
  await using otherBox = await createMachineWithKey();
  // The guard of each server blocks only its own ports.
  const [own, other] = [await box.serve(), await otherBox.serve()];
  const folder = newDirectory();
  for (const [name, { key }] of Object.entries({ here: box, there: otherBox }))
    writeFileSync(join(folder, name), key);
  const flags = ["--server", own.url, "--key-file", "here", "--name", "Box A"];
  // A key for one server is not sent to the other one.
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, SIGNALBOX_KEY: box.key };
  const watch = (...more: string[]) =>
    runSignalbox(["watch", other.url, ...flags, ...more], { cwd: folder, env });
  const refused = await watch();
  expect(refused.exitCode).not.toBe(0);
  expect(refused.stderr).toContain("--other-key-file is needed");
  const created = JSON.parse(await expectSuccess(watch("--other-key-file", "there", "--json")));
  expect(JSON.parse(await expectSuccess(watch("--other-key-file", "there", "--json")))).toEqual(
    created as Json,
  );
  const readMonitor = async (url: string, key: string, id: string) =>
    (await createServerClient(url, key)("GET", `/api/v1/monitors/${id}`)).json.data as Json;
  const isUp = ({ status }: Json) => status === "up";
  await pollUntil(() => readMonitor(own.url, box.key, created.sending), isUp);
  const waiting = await pollUntil(
    () => readMonitor(other.url, otherBox.key, created.waiting),
    isUp,
  );
  expect(waiting).toMatchObject({ type: "push", name: "Signalbox Box A", slug: "signalbox-box-a" });
  await other.stop("SIGKILL");
  const check = createServerClient(own.url, box.key);
  await check("POST", `/api/v1/monitors/${created.sending}/check`);
  const silent = await readMonitor(own.url, box.key, created.sending);
  expect(silent["status"]).not.toBe("unknown");
  expect(silent["lastMessage"]).toMatch(/refused/);
});
