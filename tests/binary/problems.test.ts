import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { inbox } from "../support/inbox.ts";
import { clientOf, machineWithKey, succeeded } from "../support/outside.ts";
import { smallDisk } from "../support/small-disk.ts";

/** A machine that an administrator runs, who is alerted by a webhook. */
async function watched(disk?: string) {
  const box = await machineWithKey(disk);
  const person = ["--email", "ada@acme.example", "--name", "Ada"];
  await succeeded(box.run(["users", "create", "--org", "acme", ...person]));
  const hook = await inbox();
  const told = () => hook.arrived().map(({ type }) => type);
  let server = await box.serve();
  const channel = { type: "webhook", name: "On-call", url: hook.at(), default: true };
  const { status } = await clientOf(server.url, box.key)("POST", "/api/v1/alert-channels", channel);
  expect(status).toBe(201);
  return {
    told,
    restart: async () => {
      expect(await server.stop()).toBe(0);
      server = await box.serve();
    },
    pause: async (seconds: number) => {
      server.child.kill("SIGSTOP");
      await Bun.sleep(seconds * 1000);
      server.child.kill("SIGCONT");
    },
    untilTold: (count: number) => hook.untilArrived((arrived) => arrived.length >= count),
    /** What it knows to be wrong, from the next look on. */
    async until(names: string[]) {
      using database = new Database(join(box.dataDir, "signalbox.db"), { readonly: true });
      const known = () => database.query("select name from problems order by name").values().flat();
      while (known().join() !== names.join()) await Bun.sleep(20);
    },
    async [Symbol.asyncDispose]() {
      await box[Symbol.asyncDispose]();
      await hook[Symbol.asyncDispose]();
    },
  };
}

const possible = smallDisk(1);
possible?.[Symbol.dispose]();

test.concurrent.skipIf(possible === null)(
  "a disk that is nearly full is told of, not again after a restart, and so is the room that it has again",
  async () => {
    using disk = smallDisk(3_000);
    if (disk === null) throw new Error("A disk could be made a moment ago.");
    await using made = await watched(disk.path);
    disk.reserve(2_300);
    await made.restart();
    await made.untilTold(1);
    await made.restart();
    disk.free();
    await made.until(["disk"]);
    await made.restart();
    await made.until([]);
    await made.untilTold(2);
    expect(made.told()).toEqual(["appliance.troubled", "appliance.recovered"]);
  },
);

test.concurrent(
  "a process that stood still for more than five seconds tells of it once it goes on",
  async () => {
    await using made = await watched();
    await made.pause(6.5);
    await made.untilTold(1);
    await made.until(["loop"]);
    await made.restart();
    await made.until(["loop"]);
    expect(made.told()).toEqual(["appliance.troubled"]);
  },
);
