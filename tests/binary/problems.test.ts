import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { startInbox } from "../support/inbox.ts";
import { createServerClient, createMachineWithKey, expectSuccess } from "../support/machine.ts";
import { createSmallDisk } from "../support/small-disk.ts";

/** A machine whose administrator is alerted by a webhook. */
async function createAlertedMachine(disk?: string) {
  const box = await createMachineWithKey(disk);
  const person = ["--email", "ada@acme.example", "--name", "Ada"];
  await expectSuccess(box.run(["users", "create", "--org", "acme", ...person]));
  const hook = await startInbox();
  type Body = { type: string; data: { problem: string; alerts?: Body[] } };
  /** Alerts about this problem; a busy machine can also report suspensions. */
  const summarize = (problem: string) =>
    hook.asked
      .map(({ body }) => JSON.parse(body) as Body)
      .flatMap((body) => body.data.alerts ?? [body])
      .filter(({ data }) => data.problem === problem)
      .map(({ type }) => type);
  let server = await box.serve();
  const channel = { type: "webhook", name: "On-call", url: hook.at(), default: true };
  const { status } = await createServerClient(server.url, box.key)(
    "POST",
    "/api/v1/alert-channels",
    channel,
  );
  expect(status).toBe(201);
  return {
    summarize,
    restart: async () => {
      expect(await server.stop()).toBe(0);
      server = await box.serve();
    },
    pause: async (seconds: number) => {
      server.child.kill("SIGSTOP");
      await Bun.sleep(seconds * 1000);
      server.child.kill("SIGCONT");
    },
    waitUntilNotified: (problem: string, count: number) =>
      hook.waitUntilArrived(() => summarize(problem).length >= count),
    /** The running server detected it. */
    async untilFound(problem: string) {
      const log = server.child.stderr.pipeThrough(new TextDecoderStream());
      let text = "";
      for await (const chunk of log) if ((text += chunk).includes(`problem="${problem}"`)) return;
    },
    knows(problem: string): boolean {
      using database = new Database(join(box.dataDir, "signalbox.db"), { readonly: true });
      return database.query("select 1 from problems where name = ?").get(problem) !== null;
    },
    async [Symbol.asyncDispose]() {
      await box[Symbol.asyncDispose]();
      await hook[Symbol.asyncDispose]();
    },
  };
}

const possible = createSmallDisk(1);
possible?.[Symbol.dispose]();

test.concurrent.skipIf(possible === null)(
  "a nearly full disk is reported once, also across a restart, and so is the freed space",
  async () => {
    using disk = createSmallDisk(3_000);
    if (disk === null) throw new Error("A disk could be made a moment ago.");
    await using result = await createAlertedMachine(disk.path);
    disk.reserve(2_300);
    await result.restart();
    await result.waitUntilNotified("disk", 1);
    await result.restart();
    await result.untilFound("disk");
    disk.free();
    await result.restart();
    await result.waitUntilNotified("disk", 2);
    expect(result.summarize("disk")).toEqual(["appliance.troubled", "appliance.recovered"]);
    expect(result.knows("disk")).toBe(false);
  },
);

test.concurrent(
  "a process that was suspended for more than five seconds reports it afterwards",
  async () => {
    await using result = await createAlertedMachine();
    await result.pause(6.5);
    await result.waitUntilNotified("loop", 1);
    await result.restart();
    expect(result.knows("loop")).toBe(true);
    expect(result.summarize("loop")).toEqual(["appliance.troubled"]);
  },
);
