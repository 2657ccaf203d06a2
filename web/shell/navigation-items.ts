import { useRouter } from "@tanstack/react-router";
import { useMemo } from "react";
import { useSignedInPerson } from "../data/session.ts";
import type { IconName } from "../components/display/icons.tsx";

type NavigationItem = {
  label: string;
  icon: IconName;
  keys: string;
  /** Whether the page is only for people who see all monitors. */
  isForAll?: boolean;
};

declare module "@tanstack/react-router" {
  interface StaticDataRouteOption {
    /** Puts the page into the navigation, the command palette and the shortcuts. */
    navigation?: NavigationItem;
  }
}

/** Number of pages in the navigation bar of phones. The others are in the person menu. */
export const onPhones = 3;

/** The pages of the navigation, in the order of their routes. */
export function useNavigationItems(): (NavigationItem & { to: string })[] {
  const { routesByPath } = useRouter();
  const { isLimited } = useSignedInPerson();
  return useMemo(
    () =>
      Object.values(routesByPath).flatMap(({ fullPath, options }) => {
        const item = options.staticData?.navigation;
        return item === undefined || (item.isForAll && isLimited)
          ? []
          : [{ to: fullPath, ...item }];
      }),
    [routesByPath, isLimited],
  );
}
