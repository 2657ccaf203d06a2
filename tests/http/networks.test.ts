import { expect, test } from "bun:test";
import { testAppliance } from "../support/appliance.ts";
import { createPublisher } from "../support/publisher.ts";
import { addressOf, createBrowser, createPerson, quickHash } from "../support/people.ts";
import { buildSection, createVisitor } from "../support/visitor.ts";

type Try = (address: string) => Promise<{ status: number; headers: Headers }>;

/**
 * Repeats from addresses of one /64 until the limit, then from there again and from the next /64.
 */
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

/** Sources of a client's address: its connection, or a proxy in front of us. */
const ways = [
  { way: "directly", settings: { addressOf }, header: "X-Address" },
  {
    way: "through a proxy",
    settings: { addressOf: () => "127.0.0.1", trustProxy: ["127.0.0.1"] },
    header: "X-Forwarded-For",
  },
];

type Appliance = Awaited<ReturnType<typeof testAppliance>>;
const surfaces: [string, number, number, (appliance: Appliance, header: string) => Try][] = [
  [
    "wrong API keys",
    600,
    401,
    ({ client }, header) =>
      (address) =>
        client("sbx_wrong")("GET", "/api/v1/monitors", { headers: { [header]: address } }),
  ],
  [
    "wrong push tokens",
    60,
    404,
    ({ client }, header) =>
      (address) =>
        client(null)("GET", "/push/wrong", { headers: { [header]: address } }),
  ],
  [
    "wrong passwords",
    10,
    401,
    (appliance, header) => {
      const owner = createPerson(appliance, appliance.ours.id, "owner");
      return async (address) =>
        createBrowser(appliance, address, header).signIn((await owner).email, "wrong password");
    },
  ],
  [
    "wrong set-up tokens",
    10,
    403,
    (appliance, header) => (address) =>
      createBrowser(appliance, address, header).page("POST", "/set-up", {
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
    (appliance, header) => (address) =>
      createBrowser(appliance, address, header).page("POST", "/invitations/look", {
        body: { token: "b".repeat(43) },
      }),
  ],
];

for (const { way, settings, header } of ways) {
  for (const [name, most, otherwise, attemptOf] of surfaces)
    test(`${name} count for the client's whole network, ${way}`, async () => {
      const appliance = await testAppliance(settings);
      const found = await exhaust(attemptOf(appliance, header), most);
      expect(found).toEqual({ tries: most, same: 429, next: otherwise });
    });

  test(`passwords of a page count for the client's whole network, ${way}`, async () => {
    await using visitor = await createVisitor(settings);
    const { id } = await visitor.monitor({ name: "Shop" });
    const page = { visibility: "password", password: "correct horse battery" };
    await visitor.createPage({ slug: "locked", sections: [buildSection("All", id)], ...page });
    visitor.database.run("UPDATE status_pages SET password_hash = ? WHERE slug = 'locked'", [
      quickHash,
    ]);
    const attempt: Try = (address) =>
      visitor.get("/status/locked", {
        method: "POST",
        headers: { [header]: address },
        form: { password: "wrong" },
      });
    expect(await exhaust(attempt, 10)).toEqual({ tries: 10, same: 429, next: 403 });
  });

  test(`sign-ups count for the client's whole network, ${way}`, async () => {
    await using publisher = await createPublisher({}, settings);
    let count = 0;
    const attempt: Try = (address) =>
      publisher.signUp(`n${count++}@team.example`, { headers: { [header]: address } });
    expect(await exhaust(attempt, 5)).toEqual({ tries: 5, same: 429, next: 200 });
  });
}
