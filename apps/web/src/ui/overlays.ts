// Menus and dialogs are in a chunk of their own, which loads when the first one opens.
export { default as Dialog } from '@mui/material/Dialog'
export { default as Drawer } from '@mui/material/Drawer'
export { default as Menu } from '@mui/material/Menu'
export { default as MenuItem } from '@mui/material/MenuItem'
