import { expect, test } from "bun:test";
import { createBudget } from "../../src/http/access/budget.ts";
import { testAppliance } from "../support/appliance.ts";
import { addressOf, signInMember } from "../support/people.ts";

test("arriving bodies have a total limit of bytes, and a limit per client", () => {
  const shared = createBudget(100, 40);
  const refused = expect.objectContaining({
    code: "RATE_LIMITED",
    headers: { "Retry-After": "1" },
  });
  const take = (client: string, bytes: number) => {
    try {
      return shared.take(client, bytes);
    } catch (error) {
      expect(error).toEqual(refused);
      return null;
    }
  };
  const first = take("a", 40);
  expect([take("a", 1), take("b", 41)]).toEqual([null, null]);
  const others = [take("b", 40), take("c", 20)];
  expect([take("d", 1), others.includes(null)]).toEqual([null, false]);
  first?.();
  expect([take("a", 40) === null, take("d", 1)]).toEqual([false, null]);
});

/** A body of this size that stays incomplete until `end` is called. */
function createEndless(bytes: number) {
  let close = () => {};
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.from("{"));
      close = () => controller.close();
    },
  });
  return { body, end: () => close(), length: String(bytes) };
}

test("unfinished sign-ins of strangers block neither writes nor sign-ins from known networks", async () => {
  const appliance = await testAppliance({ addressOf });
  const { email } = await signInMember(appliance, "owner");
  const ends: (() => void)[] = [];
  const signIn = (address: string, bytes: number) => {
    const { body, end, length } = createEndless(bytes);
    ends.push(end);
    return appliance.app.handle(
      new Request("http://localhost/dashboard/sign-in", {
        method: "POST",
        headers: {
          Host: "localhost",
          "X-Address": address,
          "Sec-Fetch-Site": "same-origin",
          "Content-Type": "application/json",
          "Content-Length": length,
        },
        body,
      }),
    );
  };
  // 64 KiB each for 256 requests: the whole limit of strangers.
  const pending = Array.from({ length: 256 }, (_, index) =>
    signIn(`10.0.${index >> 5}.1`, 64 * 1024),
  );
  const signInFrom = (address: string) =>
    appliance.client(null)("POST", "/dashboard/sign-in", {
      body: { email, password: "a long enough password" },
      headers: { "X-Address": address, "Sec-Fetch-Site": "same-origin" },
    });
  expect((await signInFrom("10.1.0.1")).status).toBe(429);
  appliance.appliance.knownNetworks.add("10.2.0.1");
  expect((await signInFrom("10.2.0.1")).status).toBe(200);
  expect(
    (await appliance.ours.api("POST", "/api/v1/incidents", { body: { title: "Slow" } })).status,
  ).toBe(201);
  for (const end of ends) end();
  expect(new Set((await Promise.all(pending)).map(({ status }) => status))).toEqual(new Set([400]));
  expect((await signInFrom("10.1.0.1")).status).toBe(200);
});

test("a request outside an organization is rejected from 64 KiB on", async () => {
  const appliance = await testAppliance();
  const { page } = await signInMember(appliance, "owner");
  for (const path of ["/dashboard/sign-in", "/dashboard/set-up", "/dashboard/invitations/look"]) {
    const raw = `{"token":"${"x".repeat(64 * 1024)}"}`;
    const { status, json } = await page("POST", path, { raw });
    expect([path, status, json.error.code]).toEqual([path, 413, "PAYLOAD_TOO_LARGE"]);
  }
});
