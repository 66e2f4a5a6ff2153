// Only the chat has one, so it is not with the parts that every page loads.
export { default as TextareaAutosize } from '@mui/material/TextareaAutosize'
