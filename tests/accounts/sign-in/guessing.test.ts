import { expect, test } from "bun:test";
import { testAppliance } from "../../support/appliance.ts";
import { addressOf, newBrowser, person } from "../../support/visiting.ts";

test("an address has ten wrong passwords a minute, and is told how long to wait before anything is hashed", async () => {
  const appliance = await testAppliance({ addressOf });
  const { email } = await person(appliance, appliance.ours.id, "owner");
  const guesser = newBrowser(appliance, "10.0.0.1");
  const wrong = await Promise.all(
    Array.from({ length: 10 }, () => guesser.signIn(email, "wrong password")),
  );
  expect(wrong.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 401));
  const refused = await Promise.all(
    Array.from({ length: 200 }, () => guesser.signIn(email, "wrong password")),
  );
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([429]));
  expect(refused[0]?.headers.get("retry-after")).toBe("60");
  expect((await guesser.signIn(email)).status).toBe(429);
  expect((await newBrowser(appliance, "10.0.0.2").signIn(email)).status).toBe(200);
  appliance.time.now += 60_000;
  expect((await guesser.signIn(email)).status).toBe(200);
});

test("right passwords are not counted", async () => {
  const appliance = await testAppliance({ addressOf });
  const { email } = await person(appliance, appliance.ours.id, "owner");
  const statuses: number[] = [];
  for (let i = 0; i < 12; i++) statuses.push((await newBrowser(appliance).signIn(email)).status);
  expect(new Set(statuses)).toEqual(new Set([200]));
});

test("while a thousand wrong ones come from one address, the owner signs in from another after at most one of them", async () => {
  const appliance = await testAppliance({ addressOf });
  const { email } = await person(appliance, appliance.ours.id, "owner");
  const guesser = newBrowser(appliance, "10.0.0.1");
  await guesser.signIn("nobody@team.example", "wrong password");
  let answered = 0;
  const guesses = Array.from({ length: 1_000 }, () =>
    guesser.signIn(email, "wrong password").then(({ status }) => {
      if (status === 401) answered++;
    }),
  );
  const { status } = await newBrowser(appliance, "10.0.0.2").signIn(email);
  expect([status, answered <= 2]).toEqual([200, true]);
  await Promise.all(guesses);
  expect(answered).toBe(9);
});
test("while strangers of 200 networks guess, the owner signs in from where somebody has signed in before", async () => {
  const appliance = await testAppliance({ addressOf });
  const { email } = await person(appliance, appliance.ours.id, "owner");
  expect((await newBrowser(appliance, "10.0.0.2").signIn(email)).status).toBe(200);
  const answered: number[] = [];
  const guesses = Array.from({ length: 200 }, async (_, index) => {
    const { status } = await newBrowser(appliance, `10.1.0.${index}`).signIn(
      email,
      "wrong password",
    );
    answered.push(status);
  });
  const { status } = await newBrowser(appliance, "10.0.0.2").signIn(email);
  expect(status).toBe(200);
  expect(answered.filter((status) => status === 401).length).toBeLessThanOrEqual(3);
  await Promise.all(guesses);
  expect(new Set(answered)).toEqual(new Set([401, 429]));
});
