import { useMantineColorScheme } from "@mantine/core";
import { useLayoutEffect } from "react";

/** Whatever this browser has chosen for itself, a wall is dark unless its address says otherwise. */
export function useWallScheme(scheme: "light" | "dark") {
  const { colorScheme } = useMantineColorScheme();
  useLayoutEffect(() => {
    const { dataset } = document.documentElement;
    const before = dataset["mantineColorScheme"];
    dataset["mantineColorScheme"] = scheme;
    return () => {
      dataset["mantineColorScheme"] = before;
    };
  }, [scheme, colorScheme]);
}
