import { expect, test } from "bun:test";
import { testAppliance } from "./support/appliance.ts";

test("Prometheus reads its own organization's figures with a read key, strangers none", async () => {
  const { ours, theirs, app, stranger } = await testAppliance();
  await ours.api("POST", "/api/v1/incidents", { body: { title: "Slow", severity: "major" } });
  const ping = { type: "ping", name: "Router", host: "192.168.1.1" };
  await ours.api("POST", "/api/v1/monitors", { body: ping });
  await ours.api("POST", "/api/v1/monitors", { body: { ...ping, paused: true } });
  const metrics = async (key: string) => {
    const headers = { Host: "localhost", Authorization: `Bearer ${key}` };
    return (await app.handle(new Request("http://localhost/metrics", { headers }))).text();
  };
  const text = await metrics((await ours.keyOf("read")).key);
  expect(text).toContain('signalbox_incidents{status="investigating",severity="major"} 1\n');
  expect(text).toContain('signalbox_monitors{type="ping",status="pending"} 1\n');
  expect(text).toContain('signalbox_monitors{type="ping",status="paused"} 1\n');
  expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
  expect(await metrics((await theirs.keyOf("read")).key)).not.toContain("signalbox_monitors{");
  expect((await stranger("GET", "/metrics")).status).toBe(401);
});
