"""Further wordings of the fields in `domains`, for training alone: a line for each field.

A line is ``first key of the field | clauses``, under the name of its domain. The held-out wordings
are in `domains`. No wording here may be one of these, which a test checks.
"""

MORE = """
person
age | has just turned {v} / celebrated birthday number {v} / looks younger than {v} / reached {v} in spring / admits to being {v} / is a {v}-year-old / has completed {v} years / feels like {v}
city | rents a room in {v} / has settled in {v} / calls {v} home / stays in {v} / spends the week in {v} / can be found in {v} / owns a house in {v} / returned to {v}
country | carries a passport of {v} / is a citizen of {v} / votes in {v} / has roots in {v} / grew up somewhere in {v} / left {v} as a child / speaks fondly of {v}
job | makes a living as a {v} / started out as a {v} / has a job as a {v} / became a {v} / serves as a {v} / was promoted to {v} / is known as a good {v} / practices as a {v}
email | reads messages sent to {v} / replies from {v} / has the mailbox {v} / gave the address {v} / prefers mail to {v} / signed up with {v} / asks you to write to {v}
phone | gave the number {v} / can be rung on {v} / has a mobile with {v} / is listed under {v} in the phone book / takes calls at {v} / dials out from {v} / asks for a call on {v}
company | is on the payroll of {v} / earns a salary at {v} / has a desk at {v} / left school for {v} / was hired by {v} / represents {v} / signed on with {v}
height | reaches {v} cm / grew to {v} cm / is {v} cm from head to toe / comes up to {v} cm / was measured at {v} cm / stopped growing at {v} cm
member | belongs to the club ~ does not belong to the club / pays the membership fee ~ pays no membership fee / holds a membership card ~ holds no membership card / signed up as a member ~ refused to sign up as a member / is a member again ~ is no longer a member / joined the club ~ left the club
favorite_color | prefers {v} to all other colors / would paint everything {v} / picks {v} every time / dresses in {v} / thinks {v} is the best color / wants a {v} car / has a room all in {v}
married | has a spouse ~ has no spouse / wears a wedding ring ~ wears no wedding ring / is somebody's spouse ~ lives alone / has a husband or wife ~ is unmarried / is wed ~ is not wed
hobby | reads a lot about {v} / wrote a paper on {v} / cares about {v} / teaches {v} / is an expert in {v} / took a course in {v} / dreams of {v} / works on {v}
children | is a parent of {v} / brought up {v} children / has a family with {v} kids / raised {v} sons and daughters / feeds {v} children / drives {v} kids to school

order
customer | is from {v} / was ordered by {v} / was paid by {v} / carries the name {v} / goes back to {v} / was entered for {v} / is meant for {v} / was phoned in by {v}
product | holds a {v} / consists of a {v} / names a {v} / is a request for a {v} / concerns the {v} / brings a {v} / has one {v} in it / will deliver a {v}
quantity | is for {v} of them / comes with {v} pieces / includes {v} units / wants {v} of these / has {v} parts / is made up of {v} items / needs {v} copies / runs to {v} units
total | amounts to {v} dollars / was charged at ${v} / is billed at {v} euros / makes {v} altogether / sets the buyer back {v} / is {v} in all / has the price {v} / runs up to ${v}
status | shows the status {v} / has become {v} / counts as {v} / appears as {v} / turned {v} / was set to {v} / remains {v} / is now {v} / went to {v}
order_date | was made on {v} / carries the date {v} / was entered on {v} / reached us on {v} / has been open since {v} / was confirmed on {v} / was taken on {v}
paid | has no open balance ~ has an open balance / is settled ~ is not settled / got its money ~ awaits its money / has been charged ~ has not been charged / is covered ~ is not covered
city | travels to {v} / ends up in {v} / is sent to {v} / has its destination in {v} / should reach {v} / is heading for {v} / gets delivered in {v} / leaves for {v}
express | is a rush order ~ is no rush order / has priority ~ has no priority / travels overnight ~ travels the slow way / needs fast delivery ~ needs no fast delivery / is in a hurry ~ is in no hurry / was sent express ~ was not sent express
discount | is {v} percent cheaper / was lowered by {v} percent / takes off {v} percent / enjoys {v} percent less / earned a rebate of {v} percent / saves {v} percent
color | was requested in {v} / is for the {v} version / has the color {v} / needs the shade {v} / asks for {v} / will be {v} / prefers {v}

event
date | is set for {v} / falls on {v} / opens on {v} / was moved to {v} / was fixed for {v} / has the date {v} / comes around on {v} / will start on {v} / occurs on {v}
time | kicks off at {v} / is scheduled for {v} / gets started at {v} / commences at {v} / has its first speaker at {v} / invites people from {v} / opens at {v}
city | can be visited in {v} / brings people to {v} / is staged in {v} / has its home in {v} / was moved to {v} / fills the halls of {v} / is planned in {v} / returns to {v}
attendees | seats {v} people / draws {v} visitors / was seen by {v} people / sold {v} seats / is limited to {v} persons / has {v} names on the list / counts {v} guests / hopes for {v} people
price | can be visited for {v} dollars / takes {v} at the entrance / asks for ${v} / is {v} euros per head / has tickets at {v} / sells seats for {v} / lets people in for ${v}
organizer | was set up by {v} / is arranged by {v} / is led by {v} / was planned by {v} / is in the hands of {v} / owes its program to {v} / is prepared by {v}
topic | looks at {v} / teaches {v} / focuses on {v} / introduces {v} / is devoted to {v} / explores {v} / has talks on {v} / turns to {v} / treats {v}
online | can be watched at home ~ cannot be watched at home / is streamed ~ is not streamed / is virtual ~ is not virtual / happens on the internet ~ happens on site / is an online event ~ is no online event / meets on screen ~ meets face to face
duration | is over after {v} minutes / is {v} minutes long / has a length of {v} minutes / fills {v} minutes / is planned for {v} minutes / ends after {v} minutes / keeps going for {v} minutes
category | is listed as a {v} / has the form of a {v} / will be a {v} / is a kind of {v} / takes the form of a {v} / goes by the name of a {v} / is meant as a {v}

company
city | works out of {v} / sits in {v} / has its desk in {v} / is located in {v} / settled in {v} / rents rooms in {v} / is at home in {v} / is found in {v}
founded | was set up in {v} / has been around since {v} / goes back to {v} / began in {v} / was established in {v} / started business in {v} / was born in {v} / came into being in {v}
employees | has {v} people on staff / gives work to {v} people / has hired {v} workers / is a team of {v} / has a crew of {v} / has grown to {v} staff / provides {v} jobs / feeds {v} families
ceo | has {v} at the top / answers to {v} / follows {v} / is directed by {v} / was built up by {v} / is in the hands of {v} / named {v} as its boss / was handed to {v}
revenue | sells for {v} million a year / turns over {v} million / took in {v} million / had a turnover of {v} million / brings in {v} million / books {v} million in sales
product | produces the {v} / offers a {v} / invented the {v} / ships a {v} / markets the {v} / is famous for the {v} / designs a {v} / manufactures the {v}
public | trades on the exchange ~ does not trade on the exchange / sells its shares to anyone ~ is in private hands / is a listed company ~ is an unlisted company / has public shares ~ has no public shares / is quoted ~ is not quoted
website | puts its news on {v} / has the address {v} / owns the domain {v} / publishes on {v} / sells through {v} / links to {v} / hosts {v}
country | is a firm from {v} / is taxed in {v} / comes from {v} / is at home in {v} / sells mostly in {v} / has its seat in {v} / works under the law of {v} / was set up in {v}

product
price | is offered at {v} / is yours for ${v} / retails for {v} dollars / will set you back {v} euros / is charged at {v} / has a price tag of ${v} / is worth {v} / fetches {v} dollars
color | is finished in {v} / has a {v} body / is sold in {v} / looks {v} / was coated in {v} / shines in {v} / is made in {v} / has the color {v}
weight | is {v} kg heavy / has a mass of {v} kg / weighs in at {v} kg / adds {v} kg to the bag / comes to {v} kg / lifts the scale to {v} kg
sku | can be ordered under {v} / has the number {v} / is labelled {v} / bears the code {v} / is known as {v} in the catalog / goes by {v} / has {v} on its label / is registered as {v}
stock | is on the shelf {v} times / has {v} pieces ready / counts {v} pieces in the store / can be had {v} times / has a stock of {v} / waits in {v} boxes / is down to the last {v}
brand | is a product of {v} / was designed by {v} / is manufactured by {v} / carries the name of {v} / leaves the factory of {v} / is supplied by {v} / bears the logo of {v}
rating | got {v} points / earns {v} stars / holds a score of {v} / averages {v} out of 5 / is valued at {v} stars / was given {v} by users / reaches {v} of 5 points
available | is in the shops ~ is not in the shops / can be bought ~ cannot be bought / is on sale ~ is not on sale / is still sold ~ is no longer sold / may be ordered ~ may not be ordered / is to be had ~ is not to be had
warranty | is guaranteed for {v} years / has {v} years of guarantee / will be repaired free for {v} years / is insured for {v} years / carries a {v} year warranty / is protected for {v} years
material | is all {v} / was made from {v} / contains {v} / has a body of {v} / uses {v} / is made out of {v} / is formed of {v}

booking
guest | was booked by {v} / is held for {v} / expects {v} / names {v} as the guest / was requested by {v} / is registered to {v} / was placed by {v} / brings {v} to us
hotel | is with the {v} / is good for the {v} / names the {v} / was taken at the {v} / leads to the {v} / puts the guest in the {v} / is a room at the {v}
nights | has {v} nights / stays {v} nights / is good for {v} nights / is a stay of {v} nights / takes {v} nights / includes {v} nights / runs for {v} nights
check_in | opens on {v} / has its arrival on {v} / has its first night on {v} / is from {v} / sees the guest arrive on {v} / counts from {v}
check_out | has its last day on {v} / closes on {v} / lets the guest leave on {v} / has departure on {v} / goes until {v} / finishes on {v}
guests | is for a group of {v} / has beds for {v} people / includes {v} people / is made for {v} adults / brings {v} visitors / lists {v} guests / is for {v} persons
room | puts the guest in room {v} / holds room {v} / is about room {v} / comes with room {v} / has the key to room {v} / blocks room {v} / names room {v}
price | is billed at {v} euros / costs ${v} in all / is paid with {v} dollars / takes {v} euros / is worth {v} / sums up to ${v} / runs to {v} dollars
breakfast | is with breakfast ~ is without breakfast / offers breakfast ~ offers no breakfast / covers breakfast ~ does not cover breakfast / serves breakfast ~ serves no breakfast / lists breakfast ~ lists no breakfast / starts the day with breakfast ~ leaves breakfast out
room_type | wants a {v} room / is about a {v} room / was made for a {v} room / names a {v} room / gets a {v} room / puts the guest in a {v} room / needs the {v} kind of room
city | leads to {v} / is a visit to {v} / means a trip to {v} / ends in {v} / brings the guest to {v} / names {v} as its place / has its hotel in {v}

job
company | is found at {v} / was announced by {v} / is a job with {v} / comes from {v} / is advertised by {v} / belongs to {v} / leads to {v} / means work for {v}
salary | earns {v} a year / is paid {v} dollars / gives {v} euros a year / comes with a salary of {v} / is worth {v} per year / starts at {v} a year / promises {v} dollars a year
city | means a move to {v} / takes place in {v} / has its desk in {v} / calls for life in {v} / leads to {v} / is open in {v}
remote | may be done at home ~ may not be done at home / needs no office ~ needs an office / is home office only ~ is office only / lets you work anywhere ~ ties you to the office / is a remote job ~ is no remote job / works from afar ~ does not work from afar
start_date | is vacant from {v} / can start on {v} / opens on {v} / has its first day on {v} / is free from {v} / commences on {v} / should start on {v}
experience | wants {v} years of practice / calls for {v} years on the job / is for people with {v} years of experience / demands {v} years / takes {v} years of training / looks for {v} years of work
contract | comes as {v} / is advertised as {v} / is a {v} job / has a {v} schedule / is listed as {v} / is thought of as {v} / runs as {v}
contact | answers to {v} / belongs to {v} / can be discussed with {v} / names {v} for questions / was opened by {v} / is filled by {v} / reports to {v}
skill | is for experts in {v} / is about {v} / expects some {v} / relies on {v} / has much to do with {v} / builds on {v} / wants a background in {v} / deals with {v}

recipe
servings | makes enough for {v} / is for {v} people / fills {v} plates / gives {v} portions / is meant for {v} persons / yields {v} servings / fills {v} bowls
prep_time | cooks for {v} minutes / keeps you busy for {v} minutes / is finished after {v} minutes / asks for {v} minutes / is on the table in {v} minutes / can be made in {v} minutes / costs {v} minutes
main_ingredient | lives from {v} / uses {v} / starts with {v} / is mostly {v} / tastes of {v} / has a lot of {v} / calls for {v} / is full of {v} / begins with {v}
difficulty | counts as {v} / is rated {v} / is called {v} / is a {v} one / has the level {v} / is thought to be {v} / is marked as {v} / is seen as {v}
vegetarian | has no meat in it ~ has meat in it / is made without meat ~ is made with meat / suits vegetarians ~ does not suit vegetarians / is fine for vegetarians ~ is not for vegetarians / leaves meat out ~ needs meat / is a meatless dish ~ is a meat dish
calories | brings {v} calories / adds up to {v} kcal / provides {v} kcal / gives {v} calories / has an energy of {v} kcal / is worth {v} calories / burns off as {v} kcal
oven_temperature | bakes at {v} degrees / wants an oven at {v} degrees / is done at {v} degrees / is put in at {v} degrees / sits in the oven at {v} / likes a heat of {v} degrees
author | is a favorite of {v} / was invented by {v} / was shared by {v} / was sent in by {v} / was first cooked by {v} / belongs to {v} / is from the kitchen of {v} / goes back to {v}
origin | is a classic of {v} / is eaten in {v} / is known from {v} / was brought from {v} / is at home in {v} / is typical of {v} / was invented in {v} / belongs to {v}

vehicle
brand | comes from {v} / is from the house of {v} / carries the badge of {v} / left the works of {v} / is a product of {v} / has the name {v} on it / is a real {v} / was sold as a {v}
year | left the factory in {v} / was first sold in {v} / came out in {v} / is a model of {v} / has been around since {v} / rolled out in {v} / was first registered in {v}
color | comes in {v} / looks {v} / shines in {v} / has a coat of {v} / was sprayed {v} / has {v} doors / wears {v}
mileage | has covered {v} km / reads {v} km / has {v} km behind it / went {v} km / has done {v} km / rolled {v} km / stands at {v} km
owner | is the car of {v} / is kept by {v} / was bought by {v} / was sold to {v} / carries {v} to work / is in the name of {v} / is used by {v} / has {v} at the wheel
price | goes for {v} euros / sells for {v} / is priced at {v} / is offered for {v} dollars / is to be had for {v} / is valued at {v} / would bring {v} dollars
electric | has an electric motor ~ has no electric motor / is charged at home ~ is filled at the pump / needs no petrol ~ needs petrol / is battery powered ~ is not battery powered / is an electric car ~ is no electric car / plugs in ~ does not plug in
seats | is built for {v} people / offers {v} seats / takes {v} passengers / holds {v} / fits {v} persons / comes with {v} seats / moves {v} people
fuel | needs {v} / drives with {v} / burns {v} / is filled with {v} / moves by {v} / works with {v} / has {v} in its tank / uses {v}

book
author | was put on paper by {v} / has {v} as its author / is credited to {v} / made {v} famous / carries the name of {v} / is the latest of {v} / was begun by {v} / was made by {v}
year | was released in {v} / is from {v} / dates from {v} / first sold in {v} / reached the shops in {v} / was finished in {v} / has been around since {v} / was new in {v}
pages | counts {v} pages / is a book of {v} pages / goes on for {v} pages / comes to {v} pages / takes {v} pages / ends on page {v} / covers {v} pages
publisher | was put out by {v} / is printed by {v} / came from {v} / is handled by {v} / has {v} as its publisher / is in the program of {v} / was released by {v}
isbn | bears the number {v} / is listed as {v} / stands under {v} / can be ordered as {v} / is catalogued as {v} / has the code {v} / is labelled {v} / goes by {v}
genre | is sold as {v} / is a piece of {v} / stands with {v} / is classed as {v} / is shelved with {v} / is read as {v} / deals in {v} / is pure {v}
language | is available in {v} / is printed in {v} / speaks {v} / can be read in {v} / is told in {v} / was first told in {v} / was composed in {v} / uses {v}
price | is offered at {v} / can be bought for ${v} / is on sale for {v} euros / goes for {v} dollars / is {v} in shops / asks ${v} / is worth {v} euros
borrowed | is with a reader ~ is in the library / is lent out ~ is not lent out / has been taken home ~ has been brought back / is out ~ is in / is not in the library now ~ can be taken home now / went to a reader ~ waits for a reader

pet
species | was born a {v} / is the family {v} / is a nice {v} / lives here as a {v} / is our {v} / is a kind of {v} / came to us as a {v} / is a lively {v}
age | is now {v} / reached {v} years / has been around for {v} years / was born {v} years ago / counts {v} years / will soon be {v} / made it to {v} years / has seen {v} winters
owner | shares a home with {v} / is the pet of {v} / was bought by {v} / stays with {v} / is loved by {v} / follows {v} / is walked by {v}
weight | brings {v} kg to the scale / is {v} kg / shows {v} kg on the scale / has grown to {v} kg / weighs in at {v} kg / carries {v} kg / is at {v} kg
color | was born {v} / shows {v} hair / is all {v} / came out {v} / has {v} ears / has a {v} face / is covered in {v} / wears {v} fur
vaccinated | got its shots ~ got no shots / has had all its shots ~ still needs its shots / is protected by a vaccine ~ is not protected by a vaccine / received a vaccine ~ received no vaccine / has its vaccine ~ lacks its vaccine
chip | bears the number {v} / is registered as {v} / has {v} on its collar / is tagged {v} / has the code {v} / is known by the number {v} / shows {v} when scanned
food | gets {v} every day / likes {v} / lives on {v} / asks for {v} / wants {v} / never leaves {v} in the bowl / enjoys {v} / dines on {v} / prefers {v}
vet | goes to {v} / is checked by {v} / was cured by {v} / trusts {v} / has {v} as its vet / was seen by {v} / is in the care of {v} / is examined by {v}

shipment
origin | began in {v} / departed from {v} / was posted in {v} / was packed in {v} / came out of {v} / was picked up in {v} / was loaded in {v} / has {v} as its origin / arrived from {v}
destination | heads for {v} / ends in {v} / should get to {v} / is sent to {v} / will reach {v} / has {v} as its goal / is expected in {v} / moves towards {v} / will be delivered in {v}
carrier | goes with {v} / is in the hands of {v} / was picked up by {v} / is shipped by {v} / is brought by {v} / was given to {v} / is delivered by {v} / rides with {v} / uses {v}
weight | is {v} kg / brings {v} kg to the scale / has {v} kg / was weighed at {v} kg / carries {v} kg / shows {v} kg
arrival | will be there on {v} / gets in on {v} / reaches its goal on {v} / comes on {v} / is planned for {v} / will be delivered on {v} / ends its trip on {v} / is promised for {v}
recipient | is meant for {v} / will be handed to {v} / is awaited by {v} / should reach {v} / names {v} as the recipient / was ordered by {v} / is to be given to {v} / is destined for {v}
sender | comes from {v} / was handed in by {v} / was shipped by {v} / carries the name of {v} as sender / was prepared by {v} / was wrapped by {v} / was mailed by {v} / starts with {v}
fragile | needs care ~ needs no care / holds glass ~ holds nothing that breaks / must not be dropped ~ can be dropped / is marked fragile ~ is not marked fragile / should be lifted gently ~ can be thrown / is delicate ~ is not delicate
status | has been {v} / counts as {v} / was marked {v} / turned out {v} / is said to be {v} / appears as {v} / remains {v} / is now {v} / was set to {v}
contents | brings a {v} / is filled with a {v} / consists of a {v} / includes a {v} / is packed with a {v} / hides a {v} / has a {v} in it / delivers a {v}

ticket
reporter | was sent by {v} / comes from {v} / was written by {v} / was started by {v} / was raised by {v} / was entered by {v} / is from {v} / carries the name of {v} / was logged by {v}
issue | notes that {v} / tells us that {v} / describes how {v} / explains that {v} / mentions that {v} / says in short that {v} / claims that {v} / was written because {v}
priority | counts as {v} / has the level {v} / is seen as {v} / was set to {v} / is marked {v} / is {v} / was ranked {v} / deserves {v} attention
assignee | is worked on by {v} / went to {v} / was given to {v} / waits for {v} / lies with {v} / is looked at by {v} / belongs to {v} / was taken by {v} / is on the desk of {v}
opened | was written on {v} / has been open since {v} / was started on {v} / carries the date {v} / was entered on {v} / reached us on {v} / was raised on {v} / goes back to {v}
resolved | is done ~ is not done / has been solved ~ has not been solved / was fixed ~ was not fixed / needs no more work ~ needs more work / is finished ~ is unfinished / was taken care of ~ is waiting for a fix
category | is a matter of {v} / was sorted under {v} / concerns {v} / is for {v} / has to do with {v} / is on the list of {v} / touches {v} / was filed under {v} / is a {v} case
device | names the {v} / is about the {v} / speaks of a {v} / was opened for a {v} / deals with the {v} / mentions a {v} / affects a {v} / comes from the user of a {v}
replies | collected {v} comments / has been answered {v} times / counts {v} messages / shows {v} replies / led to {v} messages / received {v} answers / has {v} notes

course
teacher | is held by {v} / is run by {v} / was prepared by {v} / is in the hands of {v} / is offered by {v} / belongs to {v} / was designed by {v} / lets you learn from {v} / is taken by {v}
students | has room for {v} / is limited to {v} students / is open to {v} people / fills {v} seats / is visited by {v} students / draws {v} people / has {v} on its list / teaches {v} people
room | sits in room {v} / was moved to room {v} / happens in room {v} / uses room {v} / is taught in room {v} / can be found in hall {v} / fills hall {v}
weekday | happens on {v} / is taught on {v} / comes every {v} / falls on {v} / has its day on {v} / runs every {v} / goes on each {v} / returns every {v}
time | gets going at {v} / is set for {v} / has its start at {v} / gathers at {v} / is called for {v} / comes together at {v} / kicks off at {v}
weeks | is over after {v} weeks / needs {v} weeks / fills {v} weeks / spans {v} weeks / is {v} weeks long / has a length of {v} weeks / ends after {v} weeks
fee | can be taken for {v} euros / asks for ${v} / is offered at {v} / is paid with {v} dollars / charges {v} euros / is yours for ${v} / takes {v} dollars
level | has the level {v} / is rated {v} / is made for {v} people / suits {v} students / counts as {v} / is aimed at the {v} / is for {v} users / starts at {v}
exam | leads to an exam ~ leads to no exam / includes an exam ~ does not include an exam / is tested in an exam ~ is not tested / asks for an exam ~ asks for no exam / has a final test ~ has no final test / requires an exam ~ requires no exam / is examined ~ is not examined

flight
origin | comes from {v} / begins in {v} / gets off the ground in {v} / is from {v} / has its start in {v} / rolls out in {v} / flies out of {v} / exits {v} / is coming from {v}
destination | arrives in {v} / ends in {v} / comes down in {v} / will reach {v} / takes you to {v} / gets to {v} / has {v} as its goal / is bound for {v} / heads to {v}
departure_time | goes at {v} / starts at {v} / is scheduled for {v} / pushes back at {v} / rolls at {v} / gets away at {v} / begins at {v}
date | takes off on {v} / goes on {v} / is set for {v} / is booked for {v} / starts on {v} / runs on {v} / is planned for {v} / operates on {v}
passengers | is full with {v} people / brings {v} people / seats {v} / transports {v} people / has {v} guests / moves {v} persons / was boarded by {v} people / counts {v} passengers
gate | can be boarded at {v} / is waiting at gate {v} / goes from gate {v} / was moved to gate {v} / is called at gate {v} / stands at gate {v} / departs from gate {v}
seat | offers seat {v} / has you in seat {v} / holds seat {v} / has place {v} for you / keeps seat {v} / is booked with seat {v} / assigns seat {v}
price | is offered at {v} / can be booked for ${v} / sells at {v} euros / takes {v} dollars / is yours for {v} / comes to ${v} / charges {v} euros
delayed | is behind schedule ~ keeps its schedule / has a delay ~ has no delay / leaves later than planned ~ leaves as planned / will be delayed ~ will not be delayed / waits on the ground ~ leaves when it should / lost time ~ lost no time
airline | belongs to the fleet of {v} / is offered by {v} / is sold by {v} / goes with {v} / carries the colors of {v} / is a service of {v} / is handled by {v} / is with {v}
travel_class | is sold as {v} / comes with a {v} seat / has {v} seats / was reserved in {v} / puts you in {v} / is for {v} / has room in {v} / has a free place in {v}

apartment
rooms | counts {v} rooms / has a total of {v} rooms / is made up of {v} rooms / includes {v} rooms / gives you {v} rooms / holds {v} rooms / boasts {v} rooms
rent | is rented for {v} a month / asks {v} dollars a month / is yours for {v} a month / takes {v} euros each month / is offered at {v} / is {v} per month / brings {v} a month
area | covers {v} square meters / is {v} square meters in size / offers {v} m2 / gives you {v} square meters / comes to {v} m2 / has a floor of {v} square meters / fills {v} m2
city | is located in {v} / can be seen in {v} / belongs to {v} / is a home in {v} / is part of {v} / sits in {v} / is on the market in {v} / is right in {v}
floor | is up on floor {v} / is on level {v} / can be reached on floor {v} / takes up floor {v} / has its door on floor {v} / is number {v} from the ground / fills floor {v}
landlord | is offered by {v} / is in the hands of {v} / is managed by {v} / was bought by {v} / can be seen with {v} / has {v} as landlord / is the property of {v} / is cared for by {v}
furnished | has chairs and beds in it ~ is empty / is let with furniture ~ is let without furniture / includes furniture ~ does not include furniture / is ready with all furniture ~ needs furniture / is a furnished flat ~ is an unfurnished flat / offers furniture ~ offers no furniture
available_from | can be rented from {v} / is empty from {v} / opens on {v} / may be moved into on {v} / is to be had from {v} / waits for you from {v} / becomes free on {v} / is on the market from {v}
zip | belongs to the zip code {v} / is to be found under {v} / gets its mail under {v} / has {v} as its zip / carries the postcode {v} / is in the area {v} / writes {v} as its postcode
pets_allowed | takes pets ~ takes no pets / is fine with pets ~ is not fine with pets / lets you keep pets ~ does not let you keep pets / accepts pets ~ accepts no pets / has room for pets ~ has no room for pets / is for pet owners too ~ is not for pet owners

sensor
temperature | stands at {v} degrees / is at {v} C / feels {v} degrees / notes {v} degrees / has a reading of {v} C / sends {v} degrees / found {v} degrees / counts {v} C
humidity | sees {v} percent humidity / notes {v} percent / stands at {v} percent humidity / feels {v} percent moisture / sends a humidity of {v} / has {v} percent of moisture / found {v} percent humidity
location | is located in {v} / hangs in {v} / works in {v} / sits in {v} / was placed in {v} / was mounted in {v} / sends from {v} / belongs to {v} / watches {v}
battery | holds {v} percent of charge / has a battery at {v} percent / is down to {v} percent / has {v} percent of power / shows a charge of {v} / keeps {v} percent in its battery / has {v} percent in reserve
status | sends {v} / is marked {v} / was last {v} / signals {v} / counts as {v} / has become {v} / says {v} / is now {v} / turned {v} / was set to {v}
last_seen | last sent on {v} / was checked on {v} / gave its last sign on {v} / was updated on {v} / reported on {v} / was heard on {v} / answered on {v} / delivered data on {v}
active | is in use ~ is not in use / is running ~ is stopped / sends data ~ sends no data / is turned on ~ is turned off / does its job ~ does not do its job / is active ~ is not active / is up ~ is down
pressure | is at {v} hPa / notes {v} hPa / stands at {v} hPa / sends a pressure of {v} hPa / found {v} hPa / feels {v} hPa / has a reading of {v} hPa / shows {v} hPa
firmware | uses version {v} / is on version {v} / came with firmware {v} / was loaded with {v} / has the software {v} / boots version {v} / needs firmware {v} / got version {v}

invoice
customer | is meant for {v} / went to {v} / bills {v} / names {v} / should be paid by {v} / is made out to {v} / is in the name of {v} / charges {v} / reaches {v}
vendor | was sent by {v} / is from {v} / carries the name of {v} / belongs to {v} / was drawn up by {v} / was mailed by {v} / is a bill of {v} / asks for money for {v}
amount | asks for {v} dollars / totals ${v} / charges {v} euros / is for {v} / sums up to {v} / claims ${v} / demands {v} euros / runs to ${v} / is worth {v}
tax | has {v} percent of tax in it / counts {v} percent tax / carries a tax of {v} percent / contains {v} percent tax / puts {v} percent on top / charges {v} percent vat
due_date | is to be paid by {v} / can be paid until {v} / falls due on {v} / expects its money by {v} / needs to be paid before {v} / has its deadline on {v} / runs out on {v}
issued | carries the date {v} / was sent on {v} / is from {v} / was printed on {v} / goes back to {v} / was created on {v} / was mailed on {v} / dates from {v} / was signed on {v}
paid | is settled ~ is open / got its money ~ awaits payment / is closed ~ is still open / is balanced ~ is not balanced / needs no payment ~ needs payment / was settled ~ was not settled
currency | is written in {v} / is stated in {v} / uses {v} / is charged in {v} / is settled in {v} / shows its sums in {v} / asks for {v} / expects {v}
iban | names {v} for the payment / wants the money on {v} / goes to the account {v} / gives the account {v} / is settled through {v} / is linked to {v} / should be paid into {v} / lists {v} as account

appointment
doctor | is looked after by {v} / comes to see {v} / is in the care of {v} / trusts {v} / goes to {v} / is treated by {v} / was sent to {v} / asked for {v} / visits {v} / will be seen by {v}
date | comes in on {v} / has an appointment on {v} / will be here on {v} / is expected on {v} / is seen on {v} / chose {v} / was given {v} / is on the list for {v} / returns on {v}
time | comes at {v} / is seen at {v} / was called for {v} / has to be here at {v} / will be in at {v} / sits in the chair at {v} / chose {v} / is due at {v} / is on the list for {v}
reason | comes because {v} / complains that {v} / told us that {v} / is worried that {v} / reports that {v} / called because {v} / noted that {v} / is here because {v}
room | is seen in room {v} / should go to room {v} / sits in room {v} / will be in room {v} / is taken to room {v} / is called into room {v} / is treated in room {v} / was given room {v}
phone | has {v} as number / takes calls on {v} / gave the phone number {v} / can be reached on {v} / is to be rung on {v} / answers at {v} / asks for a call to {v} / wrote down {v}
duration | stays for {v} minutes / takes {v} minutes / has {v} minutes / will be here for {v} minutes / is seen for {v} minutes / was promised {v} minutes / is done in {v} minutes / asked for {v} minutes
insured | is covered by insurance ~ is not covered by insurance / has a policy ~ has no policy / brings insurance papers ~ brings no insurance papers / is an insured patient ~ is an uninsured patient / pays through insurance ~ pays in cash / is with an insurer ~ is with no insurer
new_patient | has never been here before ~ has been here often / is new ~ is not new / is unknown to us ~ is well known to us / visits us for the first time ~ comes back to us / has no file yet ~ has a file already / was never seen here ~ was seen here before
"""
