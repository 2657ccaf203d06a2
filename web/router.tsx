import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
} from "@tanstack/react-router";
import { MonitorsPage } from "./pages/monitors/monitors-page.tsx";
import { incidentFiltersOf } from "./pages/incidents/filters.ts";
import { shownOf } from "./pages/maintenance/shown.ts";
import { filtersOf } from "./pages/monitors/filters.ts";
import { NothingHere, PageFailed } from "./shell/failures.tsx";
import { Shell } from "./shell/shell.tsx";

const root = createRootRoute({
  component: Outlet,
  notFoundComponent: NothingHere,
  errorComponent: PageFailed,
});

/** Everything behind sign-in, in its frame. */
const shell = createRoute({ getParentRoute: () => root, id: "shell", component: Shell });

const monitors = createRoute({
  getParentRoute: () => shell,
  path: "/monitors",
  validateSearch: filtersOf,
  component: MonitorsPage,
});
const home = createRoute({
  getParentRoute: () => shell,
  path: "/",
  validateSearch: filtersOf,
  component: MonitorsPage,
});
const monitor = createRoute({
  getParentRoute: () => shell,
  path: "/monitors/$id",
  component: lazyRouteComponent(() => import("./pages/monitors/monitor-page.tsx"), "MonitorPage"),
});
const alertChannels = createRoute({
  getParentRoute: () => shell,
  path: "/alert-channels",
  validateSearch: ({ new: type }: Record<string, unknown>): { new?: string } =>
    typeof type === "string" ? { new: type } : {},
  component: lazyRouteComponent(
    () => import("./pages/alert-channels/alert-channels-page.tsx"),
    "AlertChannelsPage",
  ),
});
const alertChannel = createRoute({
  getParentRoute: () => shell,
  path: "/alert-channels/$id",
  validateSearch: ({ edit }: Record<string, unknown>): { edit?: boolean } =>
    edit === true ? { edit } : {},
  component: lazyRouteComponent(
    () => import("./pages/alert-channels/alert-channel-page.tsx"),
    "AlertChannelPage",
  ),
});
const statusPages = createRoute({
  getParentRoute: () => shell,
  path: "/status-pages",
  validateSearch: ({ new: adding }: Record<string, unknown>): { new?: string } =>
    adding === "" ? { new: "" } : {},
  component: lazyRouteComponent(
    () => import("./pages/status-pages/status-pages-page.tsx"),
    "StatusPagesPage",
  ),
});
const statusPage = createRoute({
  getParentRoute: () => shell,
  path: "/status-pages/$id",
  validateSearch: ({ tab }: Record<string, unknown>): { tab?: "subscribers" | "addresses" } =>
    tab === "subscribers" || tab === "addresses" ? { tab } : {},
  component: lazyRouteComponent(
    () => import("./pages/status-pages/status-page-page.tsx"),
    "StatusPagePage",
  ),
});

const incidents = createRoute({
  getParentRoute: () => shell,
  path: "/incidents",
  validateSearch: incidentFiltersOf,
  component: lazyRouteComponent(
    () => import("./pages/incidents/incidents-page.tsx"),
    "IncidentsPage",
  ),
});
const incident = createRoute({
  getParentRoute: () => shell,
  path: "/incidents/$id",
  component: lazyRouteComponent(
    () => import("./pages/incidents/incident-page.tsx"),
    "IncidentPage",
  ),
});
const maintenance = createRoute({
  getParentRoute: () => shell,
  path: "/maintenance",
  validateSearch: shownOf,
  component: lazyRouteComponent(
    () => import("./pages/maintenance/maintenance-page.tsx"),
    "MaintenancePage",
  ),
});
const maintenanceWindow = createRoute({
  getParentRoute: () => shell,
  path: "/maintenance/$id",
  component: lazyRouteComponent(() => import("./pages/maintenance/window-page.tsx"), "WindowPage"),
});
const settingsPage = lazyRouteComponent(
  () => import("./pages/settings/settings-page.tsx"),
  "SettingsPage",
);
const settings = createRoute({
  getParentRoute: () => shell,
  path: "/settings",
  component: settingsPage,
});
const settingsSection = createRoute({
  getParentRoute: () => shell,
  path: "/settings/$section",
  component: settingsPage,
});

/** Pages of their own, without the frame. */
const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  component: lazyRouteComponent(() => import("./pages/entrance/sign-in-page.tsx"), "SignInPage"),
});
const setUp = createRoute({
  getParentRoute: () => root,
  path: "/set-up",
  component: lazyRouteComponent(() => import("./pages/entrance/set-up-page.tsx"), "SetUpPage"),
});
const invitation = createRoute({
  getParentRoute: () => root,
  path: "/invitation",
  component: lazyRouteComponent(
    () => import("./pages/entrance/invitation-page.tsx"),
    "InvitationPage",
  ),
});

const wall = createRoute({
  getParentRoute: () => root,
  path: "/wall",
  component: lazyRouteComponent(() => import("./pages/wall/wall-page.tsx"), "WallPage"),
});

export const router = createRouter({
  routeTree: root.addChildren([
    shell.addChildren([
      home,
      monitors,
      monitor,
      alertChannels,
      alertChannel,
      statusPages,
      statusPage,
      incidents,
      incident,
      maintenance,
      maintenanceWindow,
      settings,
      settingsSection,
    ]),
    wall,
    signIn,
    setUp,
    invitation,
  ]),
  defaultPreload: "intent",
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
