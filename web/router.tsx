/** The routes of the admin page, and which of them appear in the navigation. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
} from "@tanstack/react-router";
import type { adminPaths } from "../src/http/responses/admin-page.ts";
import { createChunk } from "./data/chunks.ts";
import { parseAlertFilters } from "./pages/alerts/filters.ts";
import { parseIncidentFilters } from "./pages/incidents/list/filters.ts";
import { parseSpanSearch } from "./pages/monitors/detail/spans.ts";
import { parseMaintenanceSearch } from "./pages/maintenance/search.ts";
import { parseFilters } from "./pages/monitors/list/filters.ts";
import { parseReportSearch } from "./pages/reports/search.ts";
import { MonitorsPage } from "./pages/monitors/list/monitors-page.tsx";
import { LoadingPage, NothingHere, PageFailed, useReplacedOutline } from "./shell/failures.tsx";
import { Layout } from "./shell/layout.tsx";
import { t } from "./language/text.ts";

function Root() {
  useReplacedOutline();
  return <Outlet />;
}

const rootRoute = createRootRoute({
  component: Root,
  notFoundComponent: NothingHere,
  errorComponent: PageFailed,
});

/** Parent of all pages that require sign-in, with navigation and banners. */
const shell = createRoute({ getParentRoute: () => rootRoute, id: "shell", component: Layout });

const inShell = { getParentRoute: () => shell };
const framedRoutes = [
  createRoute({
    ...inShell,
    path: "/",
    validateSearch: parseFilters,
    component: MonitorsPage,
  }),
  createRoute({
    ...inShell,
    path: "/monitors",
    staticData: { navigation: { label: t("Monitors"), icon: "pulse", keys: "g m" } },
    validateSearch: parseFilters,
    component: MonitorsPage,
  }),
  createRoute({
    ...inShell,
    path: "/monitors/$id",
    validateSearch: parseSpanSearch,
    component: lazyRouteComponent(
      createChunk(() => import("./pages/monitors/detail/monitor-page.tsx")),
    ),
  }),
  createRoute({
    ...inShell,
    path: "/alerts",
    staticData: { navigation: { label: t("Alerts"), icon: "sound", keys: "g a" } },
    validateSearch: parseAlertFilters,
    component: lazyRouteComponent(createChunk(() => import("./pages/alerts/alerts-page.tsx"))),
  }),
  createRoute({
    ...inShell,
    path: "/alerts/$id",
    component: lazyRouteComponent(createChunk(() => import("./pages/alerts/alert-page.tsx"))),
  }),
  createRoute({
    ...inShell,
    path: "/incidents",
    staticData: { navigation: { label: t("Incidents"), icon: "warning", keys: "g i" } },
    validateSearch: parseIncidentFilters,
    component: lazyRouteComponent(
      createChunk(() => import("./pages/incidents/list/incidents-page.tsx")),
    ),
  }),
  createRoute({
    ...inShell,
    path: "/incidents/$id",
    component: lazyRouteComponent(
      createChunk(() => import("./pages/incidents/detail/incident-page.tsx")),
    ),
  }),
  createRoute({
    ...inShell,
    path: "/incidents/$id/postmortem",
    component: lazyRouteComponent(
      createChunk(() => import("./pages/incidents/detail/postmortem-page.tsx")),
    ),
  }),
  createRoute({
    ...inShell,
    path: "/maintenance",
    staticData: { navigation: { label: t("Maintenance"), icon: "calendar", keys: "g w" } },
    validateSearch: parseMaintenanceSearch,
    component: lazyRouteComponent(
      createChunk(() => import("./pages/maintenance/maintenance-page.tsx")),
    ),
  }),
  createRoute({
    ...inShell,
    path: "/maintenance/$id",
    component: lazyRouteComponent(createChunk(() => import("./pages/maintenance/window-page.tsx"))),
  }),
  createRoute({
    ...inShell,
    path: "/on-call",
    staticData: { navigation: { label: t("On call"), icon: "people", keys: "g o" } },
    component: lazyRouteComponent(createChunk(() => import("./pages/on-call/on-call-page.tsx"))),
  }),
  createRoute({
    ...inShell,
    path: "/on-call/readiness",
    component: lazyRouteComponent(createChunk(() => import("./pages/on-call/readiness-page.tsx"))),
  }),
  createRoute({
    ...inShell,
    path: "/on-call/alert-sources",
    component: lazyRouteComponent(
      createChunk(() => import("./pages/alert-sources/alert-sources-page.tsx")),
    ),
  }),
  createRoute({
    ...inShell,
    path: "/on-call/alert-sources/$id",
    component: lazyRouteComponent(
      createChunk(() => import("./pages/alert-sources/alert-source-page.tsx")),
    ),
  }),
  createRoute({
    ...inShell,
    path: "/on-call/$id",
    component: lazyRouteComponent(createChunk(() => import("./pages/on-call/schedule-page.tsx"))),
  }),
  createRoute({
    ...inShell,
    path: "/alert-channels",
    staticData: { navigation: { label: t("Alert channels"), icon: "bell", keys: "g c" } },
    validateSearch: ({ new: type }: Record<string, unknown>): { new?: string } =>
      typeof type === "string" ? { new: type } : {},
    component: lazyRouteComponent(
      createChunk(() => import("./pages/alert-channels/alert-channels-page.tsx")),
    ),
  }),
  createRoute({
    ...inShell,
    path: "/alert-channels/$id",
    validateSearch: ({ edit }: Record<string, unknown>): { edit?: boolean } =>
      edit === true ? { edit } : {},
    component: lazyRouteComponent(
      createChunk(() => import("./pages/alert-channels/alert-channel-page.tsx")),
    ),
  }),
  createRoute({
    ...inShell,
    path: "/status-pages",
    staticData: {
      navigation: { label: t("Status pages"), icon: "page", keys: "g s", isForAll: true },
    },
    validateSearch: ({ new: adding }: Record<string, unknown>): { new?: string } =>
      adding === "" ? { new: "" } : {},
    component: lazyRouteComponent(
      createChunk(() => import("./pages/status-pages/status-pages-page.tsx")),
    ),
  }),
  createRoute({
    ...inShell,
    path: "/status-pages/$id",
    validateSearch: ({ tab }: Record<string, unknown>): { tab?: "subscribers" | "addresses" } =>
      tab === "subscribers" || tab === "addresses" ? { tab } : {},
    component: lazyRouteComponent(
      createChunk(() => import("./pages/status-pages/status-page-page.tsx")),
    ),
  }),
  createRoute({
    ...inShell,
    path: "/reports",
    staticData: { navigation: { label: t("Reports"), icon: "chart", keys: "g r" } },
    validateSearch: parseReportSearch,
    component: lazyRouteComponent(createChunk(() => import("./pages/reports/reports-page.tsx"))),
  }),
  createRoute({
    ...inShell,
    path: "/settings",
    staticData: { navigation: { label: t("Settings"), icon: "settings", keys: "g ," } },
    component: lazyRouteComponent(createChunk(() => import("./pages/settings/settings-page.tsx"))),
  }),
  createRoute({
    ...inShell,
    path: "/settings/$section",
    component: lazyRouteComponent(createChunk(() => import("./pages/settings/settings-page.tsx"))),
  }),
];

const inRoot = { getParentRoute: () => rootRoute };
/** Full-window pages without navigation. */
const unframed = [
  createRoute({
    ...inRoot,
    path: "/wall",
    component: lazyRouteComponent(createChunk(() => import("./pages/wall/wall-page.tsx"))),
  }),
  createRoute({
    ...inRoot,
    path: "/sign-in",
    component: lazyRouteComponent(
      createChunk(() => import("./pages/entrance/entrance-pages.tsx")),
      "SignInPage",
    ),
  }),
  createRoute({
    ...inRoot,
    path: "/set-up",
    component: lazyRouteComponent(
      createChunk(() => import("./pages/entrance/entrance-pages.tsx")),
      "SetUpPage",
    ),
  }),
  createRoute({
    ...inRoot,
    path: "/invitation",
    component: lazyRouteComponent(
      createChunk(() => import("./pages/entrance/entrance-pages.tsx")),
      "InvitationPage",
    ),
  }),
];

export const router = createRouter({
  routeTree: rootRoute.addChildren([shell.addChildren(framedRoutes), ...unframed]),
  defaultPreload: "intent",
  defaultPendingComponent: LoadingPage,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

/** Converts a server path such as `/monitors/:id` to the router's form, `/monitors/$id`. */
type RouterPath<P> = P extends `${infer Start}:${infer Parameter}` ? `${Start}$${Parameter}` : P;
type ServedPath = RouterPath<(typeof adminPaths)[number]>;
type Path = (typeof framedRoutes | typeof unframed)[number]["fullPath"];
// Type check that page and server have the same paths. Otherwise a reload would return 404.
"" as Path satisfies ServedPath;
"" as ServedPath satisfies Path;
