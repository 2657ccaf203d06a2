import { badgeKinds } from "../../src/status-pages/rendering/badges.ts";
import { type PartName, publicPaths } from "../../src/status-pages/site/public-paths.ts";
import { v2Names } from "../../src/status-pages/formats/statuspage-v2.ts";

const { link: _link, signIn: _signIn, badge, ...others } = publicPaths;
const parts = Object.fromEntries(
  Object.entries(others).filter(([name]) => !name.startsWith("uptimeKuma")),
);

/** Paths of a page's formats relative to its URL; `:id` is an incident. */
const pathsOfParts = Object.fromEntries(
  Object.entries(parts).map(([name, path]) => {
    const rest = path.replace("/status/:slug", "");
    return [name, rest === "" ? ["", "/"] : v2Names.map((one) => rest.replace(":name", one))];
  }),
) as Record<PartName, string[]>;

export const partPaths = [...new Set(Object.values(pathsOfParts).flat())];

/** The badges of a monitor; `:id` is the monitor. */
export const badgePaths = badgeKinds.map((kind) => badge.replace(":kind", kind));
