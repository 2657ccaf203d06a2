import { expect, test } from "bun:test";
import { binary } from "../support/binary.ts";
import { createMachineWithKey, createServerClient } from "../support/machine.ts";

test("the executable contains the libraries and languages that it loads on first use", async () => {
  await using machine = await createMachineWithKey();
  const { url } = await machine.serve();
  const api = createServerClient(url, machine.key);
  const created = [
    ["/monitors", { type: "push", name: "Nightly backup", schedule: "0 3 * * *" }],
    ["/incidents", { title: "Checkout is slow", message: "We are **looking**." }],
    [
      "/maintenance-windows",
      {
        title: "Router firmware",
        startsAt: "2099-11-22T02:00:00Z",
        endsAt: "2099-11-22T04:00:00Z",
        rrule: "FREQ=WEEKLY;BYDAY=SU",
      },
    ],
  ] as const;
  for (const [path, body] of created) {
    const { status, json } = await api("POST", `/api/v1${path}`, body);
    expect([path, status, json.error]).toEqual([path, 201, undefined]);
  }
  const [{ id }] = (await api("GET", "/api/v1/status-pages")).json.data;
  await api("PATCH", `/api/v1/status-pages/${id}`, { language: "de" });
  const page = await (await fetch(`${url}/status/acme`)).text();
  expect(page).toContain("We are <strong>looking</strong>.");
  expect(page).toContain("Wird untersucht");
});

test.if(process.platform === "linux" && process.arch === "x64")(
  "the executable is smaller than 127 MB, and its functions have their names for stack traces",
  async () => {
    const bytes = Buffer.from(await Bun.file(binary).bytes());
    expect(bytes.length).toBeLessThan(127_000_000);
    expect(bytes.includes("function registerCompressedModules(")).toBe(true);
  },
);
