-- What an agent says about its call besides the arguments: JSON of {run?, url?, reason?}.
alter table action add column context text;
