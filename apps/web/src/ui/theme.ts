import { createTheme } from '@mui/material/styles'

declare module '@mui/material/styles' {
  interface Palette {
    surface: { main: string; sunken: string; hover: string; selected: string }
    tint: { warning: string; error: string; info: string; success: string }
  }
  interface PaletteOptions {
    surface: Palette['surface']
    tint: Palette['tint']
  }
}

const sans = 'Inter, -apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", system-ui, sans-serif'

/**
 * The console's one source of colours and shapes. Components read them as CSS variables (`--ui-palette-…`), so a switch of the
 * scheme repaints without rendering.
 */
export const theme = createTheme({
  cssVariables: { cssVarPrefix: 'ui', colorSchemeSelector: 'data-theme' },
  defaultColorScheme: 'light',
  colorSchemes: {
    light: {
      palette: {
        primary: { main: '#27457d', dark: '#1c3461', light: '#4464a3', contrastText: '#ffffff' },
        error: { main: '#a8261c' },
        warning: { main: '#855000' },
        success: { main: '#1f6a41' },
        text: { primary: '#1d1f23', secondary: '#5a5f69' },
        background: { default: '#ffffff', paper: '#ffffff' },
        divider: '#e1e2e5',
        surface: { main: '#ffffff', sunken: '#f6f6f7', hover: '#ececef', selected: '#e6eaf3' },
        tint: { warning: '#fdf3df', error: '#fcebe9', info: '#eaf0fb', success: '#e7f5ec' },
      },
    },
    dark: {
      palette: {
        primary: { main: '#a9c1f3', dark: '#8caaea', light: '#c9d9fa', contrastText: '#10182a' },
        error: { main: '#f4a79f' },
        warning: { main: '#efbd6b' },
        success: { main: '#86d1a5' },
        text: { primary: '#e8e9ec', secondary: '#a5a9b3' },
        background: { default: '#17181b', paper: '#202226' },
        divider: '#303339',
        surface: { main: '#1f2125', sunken: '#121315', hover: '#26282d', selected: '#2a3142' },
        tint: { warning: '#33290f', error: '#3a1e1c', info: '#1d2638', success: '#16301f' },
      },
    },
  },
  shape: { borderRadius: 8 },
  typography: {
    fontFamily: sans,
    fontSize: 14,
    body1: { fontSize: '0.875rem', lineHeight: 1.5 },
    button: { textTransform: 'none', fontWeight: 600, letterSpacing: 0, lineHeight: 1.4 },
  },
  transitions: { create: () => 'none' },
  components: {
    MuiButtonBase: { defaultProps: { disableRipple: true, disableTouchRipple: true } },
    MuiMenu: { defaultProps: { transitionDuration: 0 } },
    MuiDialog: {
      defaultProps: { transitionDuration: 0 },
      styleOverrides: { paper: { border: '1px solid var(--ui-palette-divider)', backgroundImage: 'none', borderRadius: 12 } },
    },
    MuiDrawer: { defaultProps: { transitionDuration: 0 }, styleOverrides: { paper: { backgroundImage: 'none' } } },
    MuiPopover: {
      styleOverrides: {
        paper: {
          border: '1px solid var(--ui-palette-divider)',
          backgroundImage: 'none',
          boxShadow: '0 8px 24px rgb(0 0 0 / 0.16)',
          minWidth: 180,
        },
      },
    },
    MuiMenuItem: {
      styleOverrides: {
        root: {
          fontSize: 14,
          minHeight: 36,
          gap: 8,
          '@media (pointer: coarse)': { minHeight: 44 },
          '&.Mui-focusVisible': { outline: '2px solid var(--ui-palette-primary-main)', outlineOffset: -2 },
        },
      },
    },
  },
})
