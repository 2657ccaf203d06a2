import { benchAdmin } from "./admin.ts";
import { benchAdminGoals } from "./admin-goals.ts";
import { benchAlerts } from "./alerts.ts";
import { benchChecks } from "./checks.ts";
import { benchConfig } from "./config.ts";
import { benchCluster } from "./cluster.ts";
import { benchExpressions } from "./expressions.ts";
import { benchFaults } from "./faults.ts";
import { importSuite } from "./import.ts";
import { benchIntake } from "./intake.ts";
import { benchJourneys } from "./journeys.ts";
import { benchLoop } from "./loop.ts";
import { benchPageLanguages, benchPages } from "./pages.ts";
import { benchRest } from "./rest.ts";
import { benchTypes } from "./types.ts";
import { benchYear } from "./year.ts";

// `bun run bench [suite…]`: speed as ratios to a baseline measured in the same run, because absolute
// figures say more about the machine than about the code.
const suites: Record<string, () => Promise<void>> = {
  rest: benchRest,
  checks: benchChecks,
  types: benchTypes,
  expressions: benchExpressions,
  alerts: benchAlerts,
  pages: benchPages,
  "page-languages": benchPageLanguages,
  admin: benchAdmin,
  "admin-goals": benchAdminGoals,
  journeys: benchJourneys,
  year: benchYear,
  faults: benchFaults,
  config: benchConfig,
  import: importSuite,
  intake: benchIntake,
  loop: benchLoop,
  cluster: benchCluster,
};

const named = process.argv.slice(2);
for (const name of named.length > 0 ? named : Object.keys(suites)) {
  const suite = suites[name];
  if (suite === undefined)
    throw new Error(`There is no suite ${name}. Suites: ${Object.keys(suites).join(", ")}.`);
  await suite();
}
