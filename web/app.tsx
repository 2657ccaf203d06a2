import { MantineProvider } from "@mantine/core";
import { nonce } from "./first.ts";
import { cssVariablesResolver, theme } from "./theme/theme.ts";

export function App() {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariablesResolver}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      Hello
    </MantineProvider>
  );
}
