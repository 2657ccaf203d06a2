/** Mantine theme: default props of components, and colors from our design tokens. */
import {
  createTheme,
  type ActionIcon,
  type Button,
  type CSSVariablesResolver,
  type Input,
  type InputWrapper,
  type MantineColorsTuple,
  type Menu,
  type Modal,
  type Portal,
  type SegmentedControl,
  type Select,
} from "@mantine/core";
import { t } from "../language/text.ts";

/** Mantine requires ten shades. Its actual colors come from the tokens below. */
const signal = Array.from({ length: 10 }, () => "#2f4fd8") as unknown as MantineColorsTuple;

/** Options of a component in the theme. Its `extend` would load the component with the first page. */
type DefaultsOf<T extends { extend: (options: never) => unknown }> = Parameters<T["extend"]>[0];

export const theme = createTheme({
  fontFamily: "var(--font)",
  fontFamilyMonospace: "var(--mono)",
  primaryColor: "signal",
  colors: { signal },
  defaultRadius: 7,
  cursorType: "pointer",
  respectReducedMotion: true,
  fontSizes: {
    xs: "var(--t-xs)",
    sm: "var(--t-s)",
    md: "var(--t-m)",
    lg: "var(--t-l)",
    xl: "var(--t-xl)",
  },
  lineHeights: { xs: "1.4", sm: "1.45", md: "1.45", lg: "1.4", xl: "1.3" },
  headings: { fontWeight: "650" },
  shadows: { md: "var(--shadow-float)", xl: "var(--shadow-float)" },
  components: {
    Button: {
      defaultProps: { size: "sm", variant: "default" },
      vars: (_, { size }) => ({
        root: size === "sm" ? { "--button-height": "34px", "--button-padding-x": "12px" } : {},
      }),
    } satisfies DefaultsOf<typeof Button>,
    ActionIcon: { defaultProps: { variant: "subtle", color: "gray" } } satisfies DefaultsOf<
      typeof ActionIcon
    >,
    Input: {
      defaultProps: { size: "sm" },
      vars: (_, { size }) => ({ wrapper: size === "sm" ? { "--input-height": "34px" } : {} }),
    } satisfies DefaultsOf<typeof Input>,
    InputWrapper: {
      defaultProps: { size: "sm", inputWrapperOrder: ["label", "input", "error", "description"] },
    } satisfies DefaultsOf<typeof InputWrapper>,
    Modal: {
      defaultProps: {
        centered: false,
        padding: 20,
        radius: 12,
        transitionProps: { duration: 120 },
        overlayProps: { backgroundOpacity: 0.35 },
        closeButtonProps: { "aria-label": t("Close") },
      },
    } satisfies DefaultsOf<typeof Modal>,
    Menu: {
      defaultProps: {
        shadow: "md",
        transitionProps: { duration: 80 },
        // The placeholder would be an element of the menu that is not an item.
        withInitialFocusPlaceholder: false,
      },
    } satisfies DefaultsOf<typeof Menu>,
    // The list scrolls itself: a scroll area around it is not reachable by keyboard.
    ...Object.fromEntries(
      ["Autocomplete", "MultiSelect", "TagsInput"].map((name) => [
        name,
        { defaultProps: { withScrollArea: false } },
      ]),
    ),
    Select: {
      defaultProps: {
        withScrollArea: false,
        selectFirstOptionOnChange: true,
        // Selects the text, so that typing replaces it and searches again.
        onClick: ({ currentTarget }) => !currentTarget.readOnly && currentTarget.select(),
      },
    } satisfies DefaultsOf<typeof Select>,
    // Renders overlays in a landmark element, which accessibility rules require of all content.
    Portal: { defaultProps: { target: "#overlays" } } satisfies DefaultsOf<typeof Portal>,
    SegmentedControl: { defaultProps: { withItemsBorders: false } } satisfies DefaultsOf<
      typeof SegmentedControl
    >,
  },
});

const tokenVariables = {
  "--mantine-color-body": "var(--bg)",
  "--mantine-color-text": "var(--ink)",
  "--mantine-color-bright": "var(--ink)",
  "--mantine-color-dimmed": "var(--ink-2)",
  "--mantine-color-placeholder": "var(--ink-3)",
  "--mantine-color-anchor": "var(--accent)",
  "--mantine-color-error": "var(--down)",
  "--mantine-color-default": "var(--panel)",
  "--mantine-color-default-hover": "var(--raise)",
  "--mantine-color-default-color": "var(--ink)",
  "--mantine-color-default-border": "var(--line-strong)",
  "--mantine-color-disabled": "var(--raise)",
  "--mantine-color-disabled-color": "var(--ink-3)",
  "--mantine-color-disabled-border": "var(--line)",
  "--mantine-color-signal-filled": "var(--accent)",
  "--mantine-color-signal-filled-hover": "var(--accent-strong)",
  "--mantine-color-signal-light": "var(--accent-soft)",
  "--mantine-color-signal-light-hover": "var(--accent-soft)",
  "--mantine-color-signal-light-color": "var(--accent)",
  "--mantine-color-signal-outline": "var(--accent)",
  "--mantine-color-signal-text": "var(--accent)",
  "--mantine-primary-color-contrast": "var(--on-accent)",
  "--mantine-color-red-filled": "var(--down)",
  "--mantine-color-red-filled-hover": "var(--down)",
  "--mantine-color-red-light": "var(--down-soft)",
  "--mantine-color-red-light-hover": "var(--down-soft)",
  "--mantine-color-red-light-color": "var(--down)",
  "--mantine-color-red-text": "var(--down)",
  "--mantine-color-yellow-light": "var(--degraded-soft)",
  "--mantine-color-yellow-light-color": "var(--degraded)",
  "--mantine-color-gray-light": "var(--raise)",
  "--mantine-color-gray-light-hover": "var(--raise)",
  "--mantine-color-gray-light-color": "var(--ink-2)",
  "--mantine-color-gray-text": "var(--ink-2)",
};

/** Maps Mantine's colors to our tokens. The tokens themselves depend on the theme. */
export const cssVariablesResolver: CSSVariablesResolver = () => ({
  variables: {},
  light: tokenVariables,
  dark: tokenVariables,
});
