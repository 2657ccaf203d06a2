import { adminSuite } from "./admin.ts";
import { alertsSuite } from "./alerts.ts";
import { checksSuite } from "./checks.ts";
import { configSuite } from "./config.ts";
import { clusterSuite } from "./cluster.ts";
import { expressionsSuite } from "./expressions.ts";
import { faultsSuite } from "./faults.ts";
import { importSuite } from "./import.ts";
import { intakeSuite } from "./intake.ts";
import { journeysSuite } from "./journeys.ts";
import { loopSuite } from "./loop.ts";
import { pageLanguagesSuite, pagesSuite } from "./pages.ts";
import { restSuite } from "./rest.ts";
import { typesSuite } from "./types.ts";
import { yearSuite } from "./year.ts";

// `bun run bench [suite…]`: speed as ratios to a baseline measured in the same run, because absolute
// figures say more about the machine than about the code.
const suites: Record<string, () => Promise<void>> = {
  rest: restSuite,
  checks: checksSuite,
  types: typesSuite,
  expressions: expressionsSuite,
  alerts: alertsSuite,
  pages: pagesSuite,
  "page-languages": pageLanguagesSuite,
  admin: adminSuite,
  journeys: journeysSuite,
  year: yearSuite,
  faults: faultsSuite,
  config: configSuite,
  import: importSuite,
  intake: intakeSuite,
  loop: loopSuite,
  cluster: clusterSuite,
};

const named = process.argv.slice(2);
for (const name of named.length > 0 ? named : Object.keys(suites)) {
  const suite = suites[name];
  if (suite === undefined)
    throw new Error(`There is no suite ${name}. Suites: ${Object.keys(suites).join(", ")}.`);
  await suite();
}
