import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { createMachineWithKey, createServerClient } from "../support/machine.ts";

const clients = 12;
const perClient = 30;
const episode = "2026-11-20T09:00:00Z";

const buildFiring = (key: string) =>
  JSON.stringify({
    version: "4",
    status: "firing",
    alerts: [
      {
        status: "firing",
        labels: { alertname: "DiskFull" },
        annotations: { summary: `Disk ${key} is full` },
        startsAt: episode,
        fingerprint: key,
      },
    ],
  });

test("kills lose no acknowledged ping and no alert of another tool, and double none", async () => {
  await using box = await createMachineWithKey();
  const flags = ["--rate-limit", "0"];
  const first = await box.serve({ flags });
  const api = createServerClient(first.url, box.key);
  const jobs = await Promise.all(
    Array.from({ length: clients }, async (_, index) => {
      const { json } = await api("POST", "/api/v1/monitors", {
        type: "push",
        name: `Job ${index}`,
      });
      return new URL(json.data.pingUrl).pathname;
    }),
  );
  const source = { name: "Prometheus", type: "alertmanager" };
  const { json } = await api("POST", "/api/v1/alert-sources", source);
  const address = new URL(json.data.address).pathname;
  expect(await first.stop()).toBe(0);

  const runIds = new Set<string>();
  const keys = new Set<string>();
  for (const after of [40, 150, 260]) {
    const { url, child } = await box.serve({ flags });
    let acknowledged = 0;
    const send = async (path: string, init: RequestInit) => {
      const { status } = await fetch(url + path, { keepalive: false, ...init });
      expect(status).toBe(200);
      if (++acknowledged === after) child.kill("SIGKILL");
    };
    const sendReports = async (job: string, index: number) => {
      for (let turn = 0; turn < perClient; turn++) {
        const runId = crypto.randomUUID();
        await send(`${job}/log?rid=${runId}`, { method: "POST", body: "done" });
        runIds.add(runId);
        // Two clients report each problem at once.
        const key = `${after}-${index >> 1}-${turn}`;
        await send(address, { method: "POST", body: buildFiring(key) });
        keys.add(key);
      }
    };
    await Promise.allSettled(jobs.map(sendReports));
    await child.exited;
  }
  const last = await box.serve({ flags });
  expect(await last.stop()).toBe(0);

  const database = new Database(join(box.dataDir, "signalbox.db"), { readonly: true });
  const list = (sql: string) => database.query<{ key: string; number: number }, []>(sql).all();
  const stored = new Map(
    list("select run_id as key, count(*) as number from push_reports group by run_id").map(
      ({ key, number }) => [key, number],
    ),
  );
  expect([...runIds].filter((id) => stored.get(id) !== 1)).toEqual([]);
  const opened = new Map(
    list(`select json_extract(data, '$.key') as key, count(*) as number from events
      where type = 'source-alert.opened' group by 1`).map(({ key, number }) => [key, number]),
  );
  expect([...keys].filter((key) => opened.get(key) !== 1)).toEqual([]);
  expect([...opened.values()].filter((number) => number !== 1)).toEqual([]);
  const logged = `%"fingerprint":"`;
  for (const key of keys) {
    const [found] = database
      .query<{ number: number }, [string]>(
        "select count(*) as number from alert_source_requests where body like ?",
      )
      .all(`${logged}${key}"%`);
    expect(found?.number).toBeGreaterThanOrEqual(1);
    expect(found?.number).toBeLessThanOrEqual(2);
  }
  expect(runIds.size + keys.size).toBeGreaterThan(250);
  database.close();
});
