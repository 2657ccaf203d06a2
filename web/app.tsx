import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { queryClient } from "./data/query.ts";
import { nonce } from "./first.ts";
import { Toasts } from "./components/toasts.tsx";
import { router } from "./router.tsx";
import { Entrance } from "./shell/entrance.tsx";
import { cssVariablesResolver, theme } from "./theme/mantine.ts";

export function App() {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariablesResolver}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queryClient}>
        <Entrance>
          <RouterProvider router={router} />
        </Entrance>
        <Toasts />
      </QueryClientProvider>
    </MantineProvider>
  );
}
