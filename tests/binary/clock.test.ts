import { expect } from "bun:test";
import { Glob } from "bun";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startInbox } from "../support/inbox.ts";
import { createServerClient, createMachineWithKey, expectSuccess } from "../support/machine.ts";
import { defineTestWith } from "../support/real-targets.ts";
import { replyWith, startTarget } from "../support/target.ts";

/** A settable wall clock for one process; its monotonic clock is unchanged. */
function createSettableClock(directory: string) {
  const [library = ""] = new Glob("usr/lib/*/faketime/libfaketime.so.1").scanSync("/");
  const file = join(directory, "clock");
  const set = (offset: string) => writeFileSync(file, offset);
  set("+0");
  return {
    set,
    env: {
      ...process.env,
      LD_PRELOAD: join("/", library),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      NO_FAKE_STAT: "1",
    },
  };
}

defineTestWith(
  ["faketime"],
  "a clock that jumps back three days and ahead six reports no monitor as down and stops no check",
  async () => {
    await using box = await createMachineWithKey();
    await using shop = await startTarget();
    await using hook = await startInbox();
    const clock = createSettableClock(box.directory);
    const ada = ["--org", "acme", "--email", "ada@acme.example", "--name", "Ada", "--json"];
    const { email, password } = JSON.parse(
      await expectSuccess(box.run(["users", "create", ...ada])),
    );
    const server = await box.serve({ env: clock.env });
    const api = createServerClient(server.url, box.key);
    const create = async (path: string, body: object) =>
      (await api("POST", `/api/v1/${path}`, body)).json.data;
    const hookAt = { type: "webhook", name: "Hook", url: hook.at("/hook") };
    const alertChannelIds = [(await create("alert-channels", hookAt)).id];
    const common = { retries: 0, alertChannelIds };
    const { id } = await create("monitors", {
      ...common,
      type: "http",
      name: "Shop",
      url: shop.at(),
      interval: 5,
    });
    const job = await create("monitors", { ...common, type: "push", name: "Job", interval: 3_600 });
    expect((await fetch(`${job.pushUrl}?status=up`)).status).toBe(200);
    const signIn = await fetch(`${server.url}/dashboard/sign-in`, {
      method: "POST",
      headers: { "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json" },
      body: JSON.stringify({ email, password }),
    });
    const Cookie = signIn.headers.getSetCookie()[0]?.split(";", 1)[0] ?? "";
    const readSessionState = async () => {
      const answered = await fetch(`${server.url}/dashboard/session`, { headers: { Cookie } });
      return ((await answered.json()) as { data: { state: string } }).data.state;
    };
    expect(await readSessionState()).toBe("signed-in");
    const readStatuses = async () =>
      Promise.all(
        [id, job.id].map(
          async (one) => (await api("GET", `/api/v1/monitors/${one}`)).json.data.status,
        ),
      );

    expect((await api("POST", `/api/v1/monitors/${id}/check`)).status).toBe(200);
    // Clock jumps are reported as well.
    const listMonitorAlerts = () =>
      hook.listArrived().filter(({ type }) => type.startsWith("monitor."));

    // With the clock ahead, a session counts as idle for too long; with the right clock it is valid again.
    for (const [offset, state] of [
      ["-3d", "signed-in"],
      ["+3d", "signed-out"],
      ["+0", "signed-in"],
    ] as const) {
      clock.set(offset);
      await shop.waitUntilRequested(shop.asked.length + 1);
      expect([offset, await readStatuses(), listMonitorAlerts()]).toEqual([
        offset,
        ["up", "up"],
        [],
      ]);
      expect([offset, await readSessionState()]).toEqual([offset, state]);
      expect((await api("POST", "/api/v1/monitor-groups", { name: offset })).status).toBe(201);
    }
    shop.setReply(replyWith(500));
    await hook.waitUntilArrived((all) => all.some(({ type }) => type === "monitor.down"));
    expect(listMonitorAlerts().map(({ monitorId, type }) => [monitorId, type])).toEqual([
      [id, "monitor.down"],
    ]);
    expect(await server.stop()).toBe(0);
  },
);
