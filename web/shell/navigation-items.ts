import { useRouter } from "@tanstack/react-router";
import { useMemo } from "react";
import type { IconName } from "../components/icons.tsx";

type NavigationItem = { label: string; icon: IconName; keys: string };

declare module "@tanstack/react-router" {
  interface StaticDataRouteOption {
    /** Puts the page into the navigation, the command palette and the shortcuts. */
    navigation?: NavigationItem;
  }
}

/** The pages of the navigation, in the order of their routes; the phone has the middle of them in its menu. */
export function useNavigationItems(): (NavigationItem & { to: string })[] {
  const { routesByPath } = useRouter();
  return useMemo(
    () =>
      Object.values(routesByPath).flatMap(({ fullPath, options }) => {
        const item = options.staticData?.navigation;
        return item === undefined ? [] : [{ to: fullPath, ...item }];
      }),
    [routesByPath],
  );
}
