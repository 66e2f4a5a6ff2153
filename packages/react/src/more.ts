export { Background } from './background.tsx'
export { CardDialogs } from './card-dialogs.tsx'
export { CardForms } from './card-forms.tsx'
export { DeclineForm } from './decline-form.tsx'
