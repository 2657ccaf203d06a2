import { adminSuite } from "./admin.ts";
import { alertsSuite } from "./alerts.ts";
import { checksSuite } from "./checks.ts";
import { configSuite } from "./config.ts";
import { clusterSuite } from "./cluster.ts";
import { expressionsSuite } from "./expressions.ts";
import { faultsSuite } from "./faults.ts";
import { importSuite } from "./import.ts";
import { loopSuite } from "./loop.ts";
import { journeysSuite } from "./journeys.ts";
import { pagesSuite } from "./pages.ts";
import { restSuite } from "./rest.ts";
import { scaleSuite } from "./scale.ts";
import { typesSuite } from "./types.ts";
import { yearSuite } from "./year.ts";

// `bun run bench [suite…]`: speed as ratios to a floor measured in the same run, because absolute
// figures say more about the machine than about the code.
// Words that begin with a digit or a slash belong to the suite before them: `bun run bench journeys 390 /incidents`.
const suites: Record<string, (words: readonly string[]) => Promise<void>> = {
  rest: restSuite,
  checks: checksSuite,
  types: typesSuite,
  expressions: expressionsSuite,
  alerts: alertsSuite,
  pages: pagesSuite,
  admin: adminSuite,
  year: yearSuite,
  faults: faultsSuite,
  config: configSuite,
  import: importSuite,
  journeys: journeysSuite,
  loop: () => loopSuite(),
  cluster: clusterSuite,
  scale: scaleSuite,
};

const wanted: { name: string; words: string[] }[] = [];
for (const word of process.argv.slice(2)) {
  const last = wanted.at(-1);
  if (last !== undefined && /^[\d/]/.test(word)) last.words.push(word);
  else wanted.push({ name: word, words: [] });
}
const all = Object.keys(suites).map((name) => ({ name, words: [] }));
for (const { name, words } of wanted.length > 0 ? wanted : all) {
  const suite = suites[name];
  if (suite === undefined)
    throw new Error(`There is no suite ${name}; there are ${Object.keys(suites).join(", ")}.`);
  await suite(words);
}
