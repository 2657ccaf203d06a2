import { afterEach, beforeEach, expect, jest, spyOn, test } from "bun:test";
import { testAppliance } from "../../support/appliance.ts";
import { useFullHashing } from "../../support/hashing.ts";
import {
  addressOf,
  createBrowser,
  createPerson,
  defaultHash,
  signInVisitor,
} from "../../support/people.ts";

// Generous limits, because a busy machine hashes slowly.
beforeEach(() => void spyOn(performance, "now").mockReturnValue(performance.now()));
afterEach(() => jest.restoreAllMocks());

test("an address can try ten wrong passwords a minute; then the wait is reported before any hashing", async () => {
  const appliance = await testAppliance({ addressOf });
  const { email } = await createPerson(appliance, appliance.ours.id, "owner");
  const guesser = createBrowser(appliance, "10.0.0.1");
  for (let i = 0; i < 10; i++)
    expect((await guesser.signIn(email, "wrong password")).status).toBe(401);
  const refused = await Promise.all(
    Array.from({ length: 200 }, () => guesser.signIn(email, "wrong password")),
  );
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([429]));
  expect(refused[0]?.headers.get("retry-after")).toBe("60");
  expect((await guesser.signIn(email)).status).toBe(429);
  expect((await createBrowser(appliance, "10.0.0.2").signIn(email)).status).toBe(200);
  appliance.time.now += 60_000;
  expect((await guesser.signIn(email)).status).toBe(200);
});

test("right passwords are not counted", async () => {
  const appliance = await testAppliance({ addressOf });
  const { email } = await createPerson(appliance, appliance.ours.id, "owner");
  const statuses: number[] = [];
  for (let i = 0; i < 12; i++) statuses.push((await createBrowser(appliance).signIn(email)).status);
  expect(new Set(statuses)).toEqual(new Set([200]));
});

test("during 1,000 wrong attempts from one address, the owner signs in from another before most of them are judged", async () => {
  using _ = useFullHashing();
  const appliance = await testAppliance({ addressOf });
  const { email } = await createPerson(appliance, appliance.ours.id, "owner", {
    passwordHash: defaultHash,
  });
  const guesser = createBrowser(appliance, "10.0.0.1");
  await guesser.signIn("nobody@team.example", "wrong password");
  let answered = 0;
  const guesses = Array.from({ length: 1_000 }, () =>
    guesser.signIn(email, "wrong password").then(({ status }) => {
      if (status === 401) answered++;
    }),
  );
  const { status } = await createBrowser(appliance, "10.0.0.2").signIn(email);
  // In request order it would be tenth. On a busy machine some are judged before it is read.
  expect([status, answered < 5]).toEqual([200, true]);
  await Promise.all(guesses);
  expect(answered).toBe(9);
});

/** A hash that costs a quarter of the product's, which still is much slower than reading a request. */
const slowHash =
  "$argon2id$v=19$m=16384,t=2,p=1$kPrETKraTnGHjj4Uj4E+HNoLyuwpenu93hZpPmQvWCo$mEZ9fMVyum+YilhQ6cMeLHEJb/AhzAAqAeS51DfhOg0";

for (const [where, address, isKnown] of [
  ["a network with earlier sign-ins", "10.2.0.1", true],
  ["an unknown network", "10.2.0.2", false],
] as const)
  test(`during attempts from 20 networks, the owner signs in from ${where} before most of them`, async () => {
    using _ = useFullHashing();
    const appliance = await testAppliance({ addressOf });
    const { email } = await createPerson(appliance, appliance.ours.id, "owner", {
      passwordHash: slowHash,
    });
    if (isKnown) await createBrowser(appliance, address).signIn(email);
    const answered: number[] = [];
    const guess = async (network: number) => {
      const guesser = createBrowser(appliance, `10.1.${isKnown ? 1 : 0}.${network}`);
      answered.push((await guesser.signIn(email, "wrong password")).status);
    };
    const guesses = Array.from({ length: 20 }, (_, network) => guess(network));
    const { status } = await createBrowser(appliance, address).signIn(email);
    // In request order it would be last. On a busy machine some are judged before it is read.
    expect([status, answered.length < 10]).toEqual([200, true]);
    await Promise.all(guesses);
    expect(new Set(answered)).toEqual(new Set([401]));
  });

for (const exists of [true, false])
  test(`a network has twenty wrong passwords an hour for an address that ${exists ? "exists" : "does not exist"}, until a person is signed in there`, async () => {
    const appliance = await testAppliance({ addressOf });
    const { id, email } = await createPerson(appliance, appliance.ours.id, "owner");
    const address = exists ? "10.3.0.1" : "10.3.0.2";
    const triedEmail = exists ? email : "nobody@team.example";
    const guess = (email = triedEmail) => createBrowser(appliance, address).signIn(email, "wrong");
    for (let minute = 0; minute < 2; minute++) {
      for (let i = 0; i < 10; i++) expect((await guess()).status).toBe(401);
      appliance.time.now += 60_000;
    }
    const refused = await guess(triedEmail.toUpperCase());
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "3480"]);
    expect((await guess("another@team.example")).status).toBe(401);
    expect((await createBrowser(appliance, "10.3.0.3").signIn(email)).status).toBe(200);
    const { page } = await signInVisitor(appliance, id, { address });
    await page("GET", "/dashboard/session");
    expect((await guess()).status).toBe(401);
  });
