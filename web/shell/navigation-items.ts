import type { IconName } from "../components/icons.tsx";

/** The pages of the navigation in order; the phone has the middle of the list in its menu. */
export const navigationItems: { to: string; label: string; icon: IconName; keys: string }[] = [
  { to: "/monitors", label: "Monitors", icon: "pulse", keys: "g m" },
  { to: "/incidents", label: "Incidents", icon: "warning", keys: "g i" },
  { to: "/maintenance", label: "Maintenance", icon: "calendar", keys: "g w" },
  { to: "/alert-channels", label: "Alert channels", icon: "bell", keys: "g c" },
  { to: "/status-pages", label: "Status pages", icon: "page", keys: "g s" },
  { to: "/settings", label: "Settings", icon: "settings", keys: "g ," },
];
