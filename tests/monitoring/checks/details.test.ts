import { expect, test } from "bun:test";
import { monitorKinds, type MonitorType } from "../../../src/monitoring/monitors/kinds-schema.ts";
import { fakes, otherFakes } from "../../support/fakes/all.ts";
import { type Fake, replyOnceTo, type ServedFake } from "../../support/fakes/fake.ts";
import { startFake } from "../../support/fakes/start-fake.ts";
import { canary } from "../../support/samples.ts";
import { signInMember } from "../../support/people.ts";
import { createWatch } from "../../support/check-board.ts";

const types = [...(Object.entries(fakes) as [MonitorType, Fake][]), ...otherFakes];
const watch = await createWatch();
// Some servers return the current time.
watch.time.now = Date.now();
const { page } = await signInMember(watch, "member");

const buildBody = (
  type: MonitorType,
  { at, fields }: Pick<Fake, "at" | "fields">,
  port: number,
) => ({
  type,
  name: "Shop",
  ...(at?.("127.0.0.1", port, false) ?? { host: "127.0.0.1", port }),
  ...fields,
});

/** Presses “Test now”, and returns the result. */
async function attempt(body: object) {
  const { status, text, json } = await page("POST", "/dashboard/monitors/try", { body });
  expect([status, text.includes(canary)]).toEqual([200, false]);
  return json.data as { status: string; message: string; details: object };
}

test.each(types)("%s: “Test now” and the monitor show the same details", async (type, fake) => {
  await using server = await startFake(fake);
  const body = buildBody(type, fake, server.port);
  const { status, details } = await attempt(body);
  expect({ status, details }).toEqual({ status: "up", details: fake.details });
  const { id } = await watch.monitor(body);
  const checked = await watch.api("POST", `/api/v1/monitors/${id}/check`);
  expect(checked.json.data.status).toBe("up");
  expect((await watch.readMonitor(id)).details).toEqual(fake.details);
});

const http = {
  at: (host: string, port: number) => ({ url: `http://${host}:${port}/` }),
  fields: { assertions: [{ source: "body", op: "equals", value: "fine" }] },
  served: {
    transport: "tcp",
    serve: replyOnceTo("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad"),
  } satisfies ServedFake,
};

test("“Test now” reports the failed assertion and the received value for each type with assertions", async () => {
  const asserting = (Object.keys(monitorKinds) as MonitorType[]).filter(
    // dns-resolvers.test.ts covers DNS, whose fakes are name servers.
    (type) => type !== "dns" && "assertions" in monitorKinds[type].fields,
  );
  expect(asserting).toContain("http");
  for (const type of asserting) {
    const fake = types.find(([each]) => each === type)?.[1];
    const [serve, , fields = {}] =
      fake?.wrong.find(([, message]) => String(message).includes("assertion 1 failed")) ?? [];
    const served = fake === undefined ? http.served : ({ ...fake, serve } as ServedFake);
    await using server = await startFake(served);
    const { status, message } = await attempt({
      ...buildBody(type, fake ?? http, server.port),
      ...fields,
    });
    expect([type, status, message]).toEqual([
      type,
      "down",
      expect.stringMatching(/, but assertion 1 failed: the .+, received .+\.$/),
    ]);
  }
});
