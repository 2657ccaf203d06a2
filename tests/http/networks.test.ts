import { expect, test } from "bun:test";
import { testAppliance } from "../support/appliance.ts";
import { publisher } from "../support/subscribing.ts";
import { addressOf, newBrowser } from "../support/visiting.ts";
import { listed, visitor } from "../support/visitor.ts";

type Try = (address: string) => Promise<{ status: number; headers: Headers }>;

/** Tries from addresses of one /64 until it is told to wait, then from there again and from the next /64. */
async function exhaust(attempt: Try, most: number) {
  let tries = 0;
  const from = (network: number, host: number) =>
    attempt(`2001:db8:0:${network}::${host.toString(16)}`);
  let last = await from(1, 0);
  while (last.status !== 429 && tries < most) last = await from(1, ++tries);
  expect(Number(last.headers.get("retry-after"))).toBeGreaterThan(0);
  return {
    tries,
    same: (await from(1, 0xffff)).status,
    next: (await from(2, 1)).status,
  };
}

type Appliance = Awaited<ReturnType<typeof testAppliance>>;
const surfaces: [string, number, number, (appliance: Appliance) => Try][] = [
  [
    "wrong API keys",
    600,
    401,
    ({ client }) =>
      (address) =>
        client("sbx_wrong")("GET", "/api/v1/monitors", { headers: { "X-Address": address } }),
  ],
  [
    "wrong push tokens",
    60,
    404,
    ({ client }) =>
      (address) =>
        client(null)("GET", "/push/wrong", { headers: { "X-Address": address } }),
  ],
  [
    "wrong passwords",
    10,
    401,
    (appliance) => (address) =>
      newBrowser(appliance, address).signIn("nobody@team.example", "wrong password"),
  ],
  [
    "wrong set-up tokens",
    10,
    403,
    (appliance) => (address) =>
      newBrowser(appliance, address).page("POST", "/set-up", {
        body: {
          token: "b".repeat(43),
          organization: "Acme",
          name: "Ann",
          email: "ann@team.example",
          password: "a long enough password",
        },
      }),
  ],
  [
    "wrong invitations",
    10,
    404,
    (appliance) => (address) =>
      newBrowser(appliance, address).page("POST", "/invitations/look", {
        body: { token: "b".repeat(43) },
      }),
  ],
];

for (const [name, most, otherwise, attemptOf] of surfaces)
  test(`${name} count for the whole network they come from`, async () => {
    const appliance = await testAppliance({ addressOf });
    const found = await exhaust(attemptOf(appliance), most);
    expect(found).toEqual({ tries: most, same: 429, next: otherwise });
  });

test("passwords of a page count for the whole network they come from", async () => {
  await using made = await visitor({ addressOf });
  const { id } = await made.monitor({ name: "Shop" });
  const page = { visibility: "password", password: "correct horse battery" };
  await made.page({ slug: "locked", sections: [listed("All", id)], ...page });
  const attempt: Try = (address) =>
    made.get("/status/locked", {
      method: "POST",
      headers: { "X-Address": address },
      form: { password: "wrong" },
    });
  expect(await exhaust(attempt, 10)).toEqual({ tries: 10, same: 429, next: 403 });
});

test("sign-ups count for the whole network they come from", async () => {
  await using made = await publisher({}, { addressOf });
  let count = 0;
  const attempt: Try = (address) =>
    made.signUp(`n${count++}@team.example`, { headers: { "X-Address": address } });
  expect(await exhaust(attempt, 5)).toEqual({ tries: 5, same: 429, next: 200 });
});
