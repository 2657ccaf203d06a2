import { useNavigate, useSearch } from "@tanstack/react-router";

/**
 * Whether the URL opens the page's “create” dialog (`?new=true`), and functions to open and close
 * it.
 */
export function useCreateDialog() {
  const { new: asked = false } = useSearch({ strict: false }) as { new?: boolean };
  const navigate = useNavigate();
  const set = (open: boolean) =>
    void navigate({
      to: ".",
      search: (open ? { new: true } : {}) as never,
      replace: !open,
      resetScroll: false,
    });
  return { asked, open: () => set(true), close: () => set(false) };
}
